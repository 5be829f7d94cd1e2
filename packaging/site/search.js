"use strict";

/** Search on search.html. mkdocs's own runs in a worker and fetches its data: browsers allow neither to pages that are files. */
(() => {
  const input = document.getElementById("mkdocs-search-query");
  const list = document.getElementById("mkdocs-search-results");
  if (input === null || list === null) return;

  const load = (name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${base_url}/search/${name}`;
    script.onload = done;
    script.onerror = () => failed(new Error(name));
    document.head.append(script);
  });

  function show(index, documents, wanted) {
    const words = lunr.tokenizer(wanted).map(String);
    const found = words.length === 0 ? [] : index.query((query) => {
      for (const word of words) {
        query.term(lunr.stemmer(new lunr.Token(word)).toString(), { boost: 10 });
        // Of what is being written.
        query.term(word, { wildcard: lunr.Query.wildcard.TRAILING });
      }
    });
    // Places that have all of the words come first.
    const whole = ({ ref }) => words.every((word) => documents.get(ref).all.includes(word));
    const ranked = [...found.filter(whole), ...found.filter((one) => !whole(one))].slice(0, 40);
    list.replaceChildren(...ranked.map(({ ref }) => {
      const { title, text } = documents.get(ref);
      const article = document.createElement("article");
      const heading = document.createElement("h3");
      const link = document.createElement("a");
      link.href = `${base_url}/${ref}`;
      link.textContent = title;
      heading.append(link);
      const summary = document.createElement("p");
      summary.textContent = text.length > 200 ? `${text.slice(0, 200)}…` : text;
      article.append(heading, summary);
      return article;
    }));
    if (ranked.length === 0) list.textContent = words.length === 0 ? "" : list.dataset.noResultsText;
  }

  async function begin() {
    await Promise.all(["lunr.js", "documents.js"].map(load));
    const documents = new Map(searchDocuments.map((one) => [one.location, { ...one, all: `${one.title} ${one.text}`.toLowerCase() }]));
    const index = lunr(function () {
      this.ref("location");
      this.field("title", { boost: 1000 });
      this.field("text");
      for (const one of searchDocuments) this.add(one);
    });
    const again = () => show(index, documents, input.value);
    input.addEventListener("input", again);
    input.value = new URLSearchParams(location.search).get("q") ?? "";
    again();
  }
  begin().catch((error) => (list.textContent = `The search cannot be loaded: ${error.message}`));
})();
