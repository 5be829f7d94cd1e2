/* What crosscheck.cc is given: the file that describe.py writes, as data. */
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ns3/vector.h"

namespace crosscheck {

using ns3::Vector;

struct Link {
    uint32_t a, b;
    double rate, delay;
    uint32_t queue;
};

struct Route {
    uint32_t at, to, next;
};

/* `stop` below 0: never. Bytes, segments, seconds. */
struct Flow {
    bool tcp;
    uint32_t from, to;
    double start, stop;
    uint32_t packet;
    double interval;  // of datagrams
    uint32_t window;
    std::string congestion, recovery;
    bool sack, hystart;
    uint32_t initialWindow, ackSegments;
    double ackDelay, rtoMin, rtoInitial;
};

struct Description {
    double duration = 0, warmup = 0;
    std::string standard, band;
    uint32_t channel = 0, width = 0;
    std::string data, control, broadcast;
    std::vector<std::string> basic;
    uint32_t antennas = 1, guard = 800;
    double power = 0;
    std::string loss;
    double lossFirst = 0, lossSecond = 0;
    double decoded = 0, sensed = 0, noticed = 0, noiseFigure = 0;
    uint32_t cwMin = 0, cwMax = 0, aifsn = 0;
    double slot = 0;
    uint32_t aggregate = 0, amsdu = 0, rtsAbove = 0, retryShort = 0, retryLong = 0, queue = 0;
    std::vector<Vector> places;
    uint32_t wired = 0;
    std::vector<Link> links;
    std::vector<Route> routes;
    std::vector<Flow> flows;
};

/* The description of a file. Throws std::runtime_error. */
inline Description Read(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    Description d;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string kind;
        if (!(words >> kind)) {
            continue;
        }
        if (kind == "simulate") {
            words >> d.duration >> d.warmup;
        } else if (kind == "phy") {
            words >> d.standard >> d.band >> d.channel >> d.width;
        } else if (kind == "modes") {
            words >> d.data >> d.control >> d.broadcast;
        } else if (kind == "basic") {
            words >> d.basic.emplace_back();
        } else if (kind == "antennas") {
            words >> d.antennas >> d.guard;
        } else if (kind == "power") {
            words >> d.power;
        } else if (kind == "loss") {
            words >> d.loss >> d.lossFirst >> d.lossSecond;
        } else if (kind == "hearing") {
            words >> d.decoded >> d.sensed >> d.noticed >> d.noiseFigure;
        } else if (kind == "access") {
            words >> d.cwMin >> d.cwMax >> d.aifsn >> d.slot;
        } else if (kind == "frames") {
            words >> d.aggregate >> d.amsdu >> d.rtsAbove;
        } else if (kind == "limits") {
            words >> d.retryShort >> d.retryLong >> d.queue;
        } else if (kind == "node") {
            Vector place;
            words >> place.x >> place.y;
            d.places.push_back(place);
        } else if (kind == "wired") {
            d.wired++;
        } else if (kind == "link") {
            Link k;
            words >> k.a >> k.b >> k.rate >> k.delay >> k.queue;
            d.links.push_back(k);
        } else if (kind == "route") {
            Route r;
            words >> r.at >> r.to >> r.next;
            d.routes.push_back(r);
        } else if (kind == "udp" || kind == "tcp") {
            Flow f{};
            f.tcp = kind == "tcp";
            words >> f.from >> f.to >> f.start >> f.stop >> f.packet;
            if (f.tcp) {
                words >> f.window >> f.congestion >> f.recovery >> f.sack >> f.hystart >> f.initialWindow >> f.ackSegments >>
                    f.ackDelay >> f.rtoMin >> f.rtoInitial;
            } else {
                words >> f.interval;
            }
            d.flows.push_back(f);
        } else {
            throw std::runtime_error(path + ": unknown line: " + line);
        }
        if (words.fail()) {
            throw std::runtime_error(path + ": too few or wrong words: " + line);
        }
    }
    return d;
}

}  // namespace crosscheck
