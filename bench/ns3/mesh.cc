/* One scenario of the speed benchmark in ns-3.
 *
 *   mesh FILE.net static|aodv SECONDS WARMUP SEED
 *
 * Prints one line: "result RUN_WALL_S EVENTS GOODPUT_BPS ...", one goodput a flow. The wall time is that of
 * Simulator::Run. Static routes are host routes from the file, on the flows' paths only (ns-3 searches them in turn).
 * Everything that ns-3 adds by default and ns-2 does not have is off: IPv6, queue disciplines, SACK, TCP timestamps,
 * AODV's hello messages.
 */

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ns3/aodv-helper.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace {

struct Link {
    uint32_t a, b;
    std::string mbps, ms, queue;
};
struct FlowEnds {
    uint32_t source, sink;
    double start;
};
struct Route {
    uint32_t at, to, next;
};

/* The network as the benchmark's list gives it; mesh nodes come first, wired ones after them. */
struct Net {
    std::vector<Vector> places;
    uint32_t wired = 0;
    std::vector<Link> links;
    std::vector<FlowEnds> flows;
    std::vector<Route> routes;
};

Net ReadNet(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    Net net;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind;
        uint32_t index;
        words >> kind;
        if (kind == "node") {
            double x, y;
            words >> index >> x >> y;
            net.places.emplace_back(x, y, 0.0);
        } else if (kind == "wired") {
            net.wired++;
        } else if (kind == "link") {
            Link k;
            words >> k.a >> k.b >> k.mbps >> k.ms >> k.queue;
            net.links.push_back(k);
        } else if (kind == "flow") {
            FlowEnds f;
            words >> f.source >> f.sink >> f.start;
            net.flows.push_back(f);
        } else if (kind == "route") {
            Route r;
            words >> r.at >> r.to >> r.next;
            net.routes.push_back(r);
        } else {
            throw std::runtime_error(path + ": unknown line: " + line);
        }
    }
    return net;
}

/* ns-2.35's TCP as far as ns-3 has it: NewReno, 1460 bytes, an ACK for each segment, window 64, RTO at least 0.2 s. */
void ConfigureTcp() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 * 1460));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 * 1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(20 * 1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

/* 802.11b ad hoc at 11 Mb/s, basic rate 1 Mb/s, long preamble, RTS before every unicast frame, queue of 50.
 *
 * Range: ns-2's two-ray loss, transmit power and thresholds. Below -78.07 dBm (550 m) a signal does not exist, between
 * that and -64.37 dBm (250 m) it only makes the medium busy, since no preamble is detected.
 */
NetDeviceContainer InstallRadios(const NodeContainer& mesh) {
    const double rx_dbm = 10.0 * std::log10(3.652e-10 * 1e3);
    const double cs_dbm = 10.0 * std::log10(1.559e-11 * 1e3);
    const double tx_dbm = 10.0 * std::log10(0.28183815 * 1e3);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::ArpCache::AliveTimeout", TimeValue(Seconds(100000)));

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6),
                               "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(tx_dbm));
    phy.Set("TxPowerEnd", DoubleValue(tx_dbm));
    phy.Set("RxSensitivity", DoubleValue(cs_dbm));
    phy.Set("CcaEdThreshold", DoubleValue(cs_dbm));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(rx_dbm),
                                  "Threshold", DoubleValue(4.0));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"), "NonUnicastMode",
                                 WifiModeValue(WifiMode("DsssRate1Mbps")), "RtsCtsThreshold", UintegerValue(0),
                                 "MaxSsrc", UintegerValue(7), "MaxSlrc", UintegerValue(4));
    return wifi.Install(phy, mac, mesh);
}

void Place(const NodeContainer& mesh, const std::vector<Vector>& places) {
    auto positions = CreateObject<ListPositionAllocator>();
    for (const Vector& place : places) {
        positions->Add(place);
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(mesh);
}

/* Interface and neighbour's address by pair of nodes, for the static routes. */
using Hops = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, Ipv4Address>>;

Hops InstallLinks(const Net& net, const NodeContainer& nodes) {
    Hops hops;
    Ipv4AddressHelper addresses("10.2.0.0", "255.255.255.252");
    for (const Link& link : net.links) {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue(link.mbps + "Mbps"));
        wire.SetChannelAttribute("Delay", StringValue(link.ms + "ms"));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(link.queue + "p"));
        auto devices = wire.Install(nodes.Get(link.a), nodes.Get(link.b));
        auto ends = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        addresses.NewNetwork();
        hops[{link.a, link.b}] = {ends.Get(0).second, ends.GetAddress(1)};
        hops[{link.b, link.a}] = {ends.Get(1).second, ends.GetAddress(0)};
    }
    return hops;
}

/* The address that traffic to a node uses: its first one (the radio's for mesh nodes). */
Ipv4Address AddressOf(const NodeContainer& nodes, uint32_t index) {
    return nodes.Get(index)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
}

void InstallRoutes(const Net& net, const NodeContainer& nodes, const Hops& wired) {
    for (const Route& r : net.routes) {
        auto table = Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(
            nodes.Get(r.at)->GetObject<Ipv4>()->GetRoutingProtocol());
        auto hop = wired.find({r.at, r.next});
        if (hop == wired.end()) {
            table->AddHostRouteTo(AddressOf(nodes, r.to), AddressOf(nodes, r.next), 1);
        } else {
            table->AddHostRouteTo(AddressOf(nodes, r.to), hop->second.second, hop->second.first);
        }
    }
}

void Simulate(const Net& net, const std::string& routing, double seconds, double warmup) {
    NodeContainer mesh, nodes;
    mesh.Create(net.places.size());
    nodes.Add(mesh);
    NodeContainer wired;
    wired.Create(net.wired);
    nodes.Add(wired);
    Place(mesh, net.places);
    NetDeviceContainer radios = InstallRadios(mesh);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    if (routing == "aodv") {
        AodvHelper aodv;
        aodv.Set("EnableHello", BooleanValue(false));
        stack.SetRoutingHelper(aodv);
    } else {
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    }
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    addresses.Assign(radios);
    TrafficControlHelper().Uninstall(radios);
    Hops hops = InstallLinks(net, nodes);
    if (routing == "static") {
        InstallRoutes(net, nodes, hops);
    }

    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> before(net.flows.size(), 0);
    uint16_t port = 5000;
    for (const FlowEnds& flow : net.flows) {
        InetSocketAddress there(AddressOf(nodes, flow.sink), port++);
        PacketSinkHelper sink("ns3::TcpSocketFactory", there);
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(flow.sink)).Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", there);
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(1460));
        bulk.Install(nodes.Get(flow.source)).Start(Seconds(flow.start));
    }
    Simulator::Schedule(Seconds(warmup), [&]() {
        for (size_t k = 0; k < sinks.size(); ++k) {
            before[k] = sinks[k]->GetTotalRx();
        }
    });
    Simulator::Stop(Seconds(seconds));
    const auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

    std::cout << "result " << wall.count() << " " << Simulator::GetEventCount();
    for (size_t k = 0; k < sinks.size(); ++k) {
        std::cout << " " << (sinks[k]->GetTotalRx() - before[k]) * 8.0 / (seconds - warmup);
    }
    std::cout << std::endl;
    Simulator::Destroy();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string routing = argc == 6 ? argv[2] : "";
    if (routing != "static" && routing != "aodv") {
        std::cerr << "usage: mesh FILE.net static|aodv SECONDS WARMUP SEED" << std::endl;
        return 2;
    }
    try {
        const Net net = ReadNet(argv[1]);
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(std::stoul(argv[5]));
        ConfigureTcp();
        Simulate(net, routing, std::stod(argv[3]), std::stod(argv[4]));
    } catch (const std::exception& problem) {
        std::cerr << "mesh: " << problem.what() << std::endl;
        return 2;
    }
    return 0;
}
