"use strict";

/** What the page carries: values by element, compressed files. */
const carried = {
  json(id) {
    return JSON.parse(document.getElementById(id).textContent);
  },

  /** Bytes of base64 text. */
  bytes(base64) {
    return Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  },

  /** Text of gzip bytes; rejects where the browser cannot unpack. */
  async unpack(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  },
};

/** Links that save a compressed file save it unpacked. */
for (const link of document.querySelectorAll("a.download")) {
  link.addEventListener("click", async (event) => {
    if (typeof DecompressionStream === "undefined") return; // the link itself saves the compressed file
    event.preventDefault();
    const text = await carried.unpack(carried.bytes(link.href.split(",")[1]));
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    saved.download = link.download.replace(/\.gz$/, "");
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 10000);
  });
}
