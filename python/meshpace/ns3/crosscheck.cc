/* A scenario of `meshpace crosscheck --with ns3`, run in ns-3.37.
 *
 *   crosscheck DESCRIPTION SEED
 *
 * The description is what python/meshpace/ns3/describe.py writes: a line an item, words between spaces, nodes by their numbers in
 * the order of the file (mesh nodes, then wired ones). Printed are the counters of each flow at both ends of the measured interval
 * and every second between, its delays and round trips, and what was dropped; python/meshpace/ns3/parse.py reads them.
 *
 * Every station knows from the beginning what its neighbours can do and their addresses. No queue disciplines, no IPv6.
 */

#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "description.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/llc-snap-header.h"
#include "ns3/mobility-module.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;
using crosscheck::Description;
using crosscheck::Flow;
using crosscheck::Link;
using crosscheck::Route;

namespace {

constexpr uint16_t kFirstPort = 5000;

/* What is printed of a flow: bytes that have come, and what its sender did. */
struct Meter {
    uint64_t bytes = 0, sent = 0, retransmits = 0, timeouts = 0;
    SequenceNumber32 highest{0};
    double smoothedRtt = 0, rttSum = 0;
    uint64_t rttCount = 0;
};

std::vector<Meter> g_meters;
uint64_t g_dataGivenUp = 0, g_acksGivenUp = 0, g_queueDrops = 0;

/* Counts a segment that leaves; below what has left before it is a retransmission. */
void SegmentSent(Meter* meter, Ptr<const Packet> payload, const TcpHeader& header, Ptr<const TcpSocketBase>) {
    if (payload->GetSize() == 0) {
        return;
    }
    const SequenceNumber32 end = header.GetSequenceNumber() + payload->GetSize();
    if (end > meter->highest) {
        meter->highest = end;
        meter->sent++;
    } else {
        meter->retransmits++;
    }
}

/* TcpSocketBase::ReTxTimeout doubles the timeout, up to 60 s; samples of the round trip set it to something else. */
void TimeoutChanged(Meter* meter, Time before, Time now) {
    if (now > before && now == Min(before + before, Seconds(60))) {
        meter->timeouts++;
    }
}

/* What ns-3.37 calls the last sample is the smoothed one; ns-3.43 says so. */
void RttChanged(Meter* meter, Time, Time now) {
    meter->smoothedRtt = now.GetSeconds();
}

/* Whether a frame's payload is TCP without data. */
bool IsAck(Ptr<const WifiMpdu> mpdu) {
    Ptr<Packet> packet = mpdu->GetPacket()->Copy();
    LlcSnapHeader llc;
    Ipv4Header ip;
    TcpHeader tcp;
    if (packet->RemoveHeader(llc) == 0 || packet->RemoveHeader(ip) == 0 || ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER) {
        return false;
    }
    packet->RemoveHeader(tcp);
    return packet->GetSize() == 0;
}

/* Given up by a MAC. What a full queue does not take is told by the queue itself, of every kind of station. */
void Dropped(WifiMacDropReason why, Ptr<const WifiMpdu> mpdu) {
    if (mpdu->GetHeader().IsData() && why != WIFI_MAC_DROP_FAILED_ENQUEUE) {
        (IsAck(mpdu) ? g_acksGivenUp : g_dataGivenUp)++;
    }
}

void DroppedByQueue(Ptr<const WifiMpdu> mpdu) {
    if (mpdu->GetHeader().IsData()) {
        g_queueDrops++;
    }
}

/* By a wired link's queue, or because the queue of a device is full, which then is given nothing. */
void DroppedBefore(Ptr<const Packet>) {
    g_queueDrops++;
}

const std::map<std::string, WifiStandard> kStandards{
    {"80211a", WIFI_STANDARD_80211a}, {"80211b", WIFI_STANDARD_80211b}, {"80211g", WIFI_STANDARD_80211g},
    {"80211n", WIFI_STANDARD_80211n}, {"80211ac", WIFI_STANDARD_80211ac}, {"80211ax", WIFI_STANDARD_80211ax}};

/* Standards whose frames have several packets. */
bool HasAggregates(const Description& d) { return d.standard == "80211n" || d.standard == "80211ac" || d.standard == "80211ax"; }

void SetLoss(YansWifiChannelHelper& channel, const Description& d) {
    if (d.loss == "log-distance") {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(d.lossFirst), "ReferenceDistance",
                                   DoubleValue(1), "ReferenceLoss", DoubleValue(d.lossSecond));
    } else if (d.loss == "two-ray") {
        channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(d.lossFirst), "HeightAboveZ",
                                   DoubleValue(d.lossSecond));
    } else {
        throw std::runtime_error("unknown loss: " + d.loss);
    }
}

NetDeviceContainer InstallRadios(const NodeContainer& mesh, const Description& d) {
    const bool ht = HasAggregates(d);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(std::to_string(d.queue) + "p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100000)));
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    SetLoss(channel, d);
    YansWifiPhyHelper phy;
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{" + std::to_string(d.channel) + ", " + std::to_string(d.width) + ", BAND_" + d.band + ", 0}"));
    phy.Set("TxPowerStart", DoubleValue(d.power));
    phy.Set("TxPowerEnd", DoubleValue(d.power));
    phy.Set("RxSensitivity", DoubleValue(d.noticed));
    phy.Set("CcaEdThreshold", DoubleValue(d.sensed));
    phy.Set("CcaSensitivity", DoubleValue(d.sensed));
    phy.Set("RxNoiseFigure", DoubleValue(d.noiseFigure));
    phy.Set("Antennas", UintegerValue(d.antennas));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(d.antennas));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(d.antennas));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(d.decoded));
    WifiMacHelper mac;
    if (ht) {
        mac.SetType("ns3::AdhocWifiMac", "BE_MaxAmpduSize", UintegerValue(d.aggregate), "BE_MaxAmsduSize", UintegerValue(d.amsdu));
    } else {
        mac.SetType("ns3::AdhocWifiMac");
    }
    WifiHelper wifi;
    wifi.SetStandard(kStandards.at(d.standard));
    if (ht) {
        wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(d.guard == 400));
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(d.data), "ControlMode",
                                 StringValue(d.control), "NonUnicastMode", WifiModeValue(WifiMode(d.broadcast)), "RtsCtsThreshold",
                                 UintegerValue(d.rtsAbove), "MaxSsrc", UintegerValue(d.retryShort), "MaxSlrc",
                                 UintegerValue(d.retryLong));
    NetDeviceContainer radios = wifi.Install(phy, mac, mesh);
    for (uint32_t k = 0; k < radios.GetN(); ++k) {
        auto device = DynamicCast<WifiNetDevice>(radios.Get(k));
        if (auto he = device->GetHeConfiguration()) {
            he->SetGuardInterval(NanoSeconds(d.guard));
            he->SetMpduBufferSize(256);
        }
        device->GetPhy()->SetSlot(MicroSeconds(d.slot));
        PointerValue access;
        device->GetMac()->GetAttribute(ht ? "BE_Txop" : "Txop", access);
        auto txop = access.Get<Txop>();
        txop->SetMinCw(d.cwMin);
        txop->SetMaxCw(d.cwMax);
        txop->SetAifsn(d.aifsn);
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Dropped));
        txop->GetWifiMacQueue()->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&DroppedByQueue));
    }
    return radios;
}

/* Makes `other` a station that is known: its modes, and answers at the basic ones. ns-3 would take all mandatory modes for basic. */
void Acquaint(Ptr<WifiNetDevice> device, Mac48Address other, const Description& d) {
    auto manager = device->GetRemoteStationManager();
    for (const auto& mode : device->GetPhy()->GetModeList()) {
        manager->AddSupportedMode(other, mode);
    }
    for (const auto& mode : d.basic) {
        manager->AddBasicMode(WifiMode(mode));
    }
    if (HasAggregates(d)) {
        manager->AddAllSupportedMcs(other);
        manager->AddStationHtCapabilities(other, device->GetMac()->GetHtCapabilities(0));
    }
    if (d.standard == "80211ac" || (d.standard == "80211ax" && d.band == "5GHZ")) {
        manager->AddStationVhtCapabilities(other, device->GetMac()->GetVhtCapabilities(0));
    }
    if (d.standard == "80211ax") {
        manager->AddStationHeCapabilities(other, device->GetMac()->GetHeCapabilities(0));
    }
    manager->RecordDisassociated(other);
}

void KnowNeighbour(const NodeContainer& nodes, const NetDeviceContainer& radios, uint32_t at, uint32_t next, const Description& d) {
    auto other = Mac48Address::ConvertFrom(radios.Get(next)->GetAddress());
    Acquaint(DynamicCast<WifiNetDevice>(radios.Get(at)), other, d);
    auto cache = nodes.Get(at)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
    const Ipv4Address address = nodes.Get(next)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    if (!cache->Lookup(address)) {
        auto entry = cache->Add(address);
        entry->SetMacAddress(other);
        entry->MarkPermanent();
    }
}

/* Interface and neighbour's address by pair of nodes that a wired link joins. */
using Hops = std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, Ipv4Address>>;

Hops InstallLinks(const Description& d, const NodeContainer& nodes) {
    Hops hops;
    Ipv4AddressHelper addresses("10.2.0.0", "255.255.255.252");
    for (const Link& link : d.links) {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(link.rate))));
        wire.SetDeviceAttribute("Mtu", UintegerValue(65535));
        wire.SetChannelAttribute("Delay", TimeValue(Seconds(link.delay)));
        // The packet on its way over the link is not in its queue.
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(link.queue - 1) + "p"));
        auto devices = wire.Install(nodes.Get(link.a), nodes.Get(link.b));
        auto ends = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        addresses.NewNetwork();
        hops[{link.a, link.b}] = {ends.Get(0).second, ends.GetAddress(1)};
        hops[{link.b, link.a}] = {ends.Get(1).second, ends.GetAddress(0)};
        for (uint32_t k = 0; k < devices.GetN(); ++k) {
            PointerValue queue;
            devices.Get(k)->GetAttribute("TxQueue", queue);
            queue.Get<Queue<Packet>>()->TraceConnectWithoutContext("Drop", MakeCallback(&DroppedBefore));
        }
    }
    return hops;
}

/* The address that traffic to a node uses: its first one (the radio's for mesh nodes). */
Ipv4Address AddressOf(const NodeContainer& nodes, uint32_t index) {
    return nodes.Get(index)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
}

/* A TCP socket with the settings of a flow; what a listening one accepts has them, too. They are defaults before the socket is
 * made, since a congestion control looks at them when it is put in (TcpBbr at the segment and the first window). */
Ptr<Socket> MakeTcp(Ptr<Node> node, const Flow& f) {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(f.packet));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(f.window * f.packet));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(f.window * f.packet));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(f.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(f.ackSegments));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(f.ackDelay)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(f.rtoInitial)));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(f.rtoMin)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(f.sack));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(f.hystart));
    return node->GetObject<TcpL4Protocol>()->CreateSocket(TypeId::LookupByName("ns3::" + f.congestion),
                                                          TypeId::LookupByName("ns3::" + f.recovery));
}

/* What drives a flow, and its sockets. */
class Application {
  public:
    Application(const Flow& flow, Meter* meter, const NodeContainer& nodes, uint16_t port) : m_flow(flow), m_meter(meter) {
        const InetSocketAddress there(AddressOf(nodes, flow.to), port);
        auto source = nodes.Get(flow.from), sink = nodes.Get(flow.to);
        m_socket = flow.tcp ? MakeTcp(source, flow) : Socket::CreateSocket(source, UdpSocketFactory::GetTypeId());
        m_sink = flow.tcp ? MakeTcp(sink, flow) : Socket::CreateSocket(sink, UdpSocketFactory::GetTypeId());
        m_sink->Bind(there);
        if (flow.tcp) {
            m_sink->Listen();
            m_sink->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Application::Accepted, this));
            m_socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&SegmentSent, meter));
            m_socket->TraceConnectWithoutContext("RTO", MakeBoundCallback(&TimeoutChanged, meter));
            m_socket->TraceConnectWithoutContext("RTT", MakeBoundCallback(&RttChanged, meter));
            m_socket->SetSendCallback(MakeCallback(&Application::Fill, this));
        } else {
            m_sink->SetRecvCallback(MakeCallback(&Application::Received, this));
        }
        Simulator::ScheduleWithContext(source->GetId(), Seconds(flow.start), [this, there] { Start(there); });
    }

  private:
    bool Over() const {
        return m_flow.stop >= 0 && Simulator::Now() >= Seconds(m_flow.stop);
    }
    void Start(const InetSocketAddress& there) {
        m_socket->Bind();
        m_socket->Connect(there);
        if (m_flow.tcp) {
            m_socket->SetConnectCallback(MakeCallback(&Application::Connected, this), MakeNullCallback<void, Ptr<Socket>>());
        } else {
            Datagram();
        }
    }
    void Connected(Ptr<Socket> socket) {
        Fill(socket, 0);
    }
    void Fill(Ptr<Socket> socket, uint32_t) {
        while (!Over() && socket->GetTxAvailable() >= m_flow.packet && socket->Send(Create<Packet>(m_flow.packet)) > 0) {
        }
    }
    void Datagram() {
        if (!Over()) {
            m_socket->Send(Create<Packet>(m_flow.packet));
            m_meter->sent++;
            Simulator::Schedule(Seconds(m_flow.interval), &Application::Datagram, this);
        }
    }
    void Accepted(Ptr<Socket> socket, const Address&) {
        socket->SetRecvCallback(MakeCallback(&Application::Received, this));
    }
    void Received(Ptr<Socket> socket) {
        while (auto packet = socket->Recv()) {
            m_meter->bytes += packet->GetSize();
        }
    }

    Flow m_flow;
    Meter* m_meter;
    Ptr<Socket> m_socket, m_sink;
};

void PrintCounters(const char* label) {
    for (size_t k = 0; k < g_meters.size(); ++k) {
        const Meter& m = g_meters[k];
        std::cout << label << " " << k << " " << m.bytes << " " << m.sent << " " << m.retransmits << " " << m.timeouts << "\n";
    }
    std::cout << label << " drops " << g_dataGivenUp << " " << g_acksGivenUp << " " << g_queueDrops << "\n";
}

void EverySecond() {
    for (size_t k = 0; k < g_meters.size(); ++k) {
        std::cout << "second " << Simulator::Now().GetSeconds() << " " << k << " " << g_meters[k].bytes << "\n";
    }
    Simulator::Schedule(Seconds(1), &EverySecond);
}

void SampleRtt() {
    for (Meter& meter : g_meters) {
        if (meter.smoothedRtt > 0) {
            meter.rttSum += meter.smoothedRtt;
            meter.rttCount++;
        }
    }
    Simulator::Schedule(MilliSeconds(250), &SampleRtt);
}

void Simulate(const Description& d) {
    NodeContainer mesh, nodes;
    mesh.Create(d.places.size());
    nodes.Add(mesh);
    NodeContainer wired;
    wired.Create(d.wired);
    nodes.Add(wired);
    auto positions = CreateObject<ListPositionAllocator>();
    for (const Vector& place : d.places) {
        positions->Add(place);
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(mesh);
    NetDeviceContainer radios = InstallRadios(mesh, d);

    Config::SetDefault("ns3::Ipv4L3Protocol::DefaultTtl", UintegerValue(255));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    addresses.Assign(radios);
    TrafficControlHelper().Uninstall(radios);
    for (uint32_t k = 0; k < nodes.GetN(); ++k) {
        nodes.Get(k)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&DroppedBefore));
    }
    const Hops hops = InstallLinks(d, nodes);
    for (const Route& r : d.routes) {
        auto table = Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(nodes.Get(r.at)->GetObject<Ipv4>()->GetRoutingProtocol());
        auto hop = hops.find({r.at, r.next});
        if (hop != hops.end()) {
            table->AddHostRouteTo(AddressOf(nodes, r.to), hop->second.second, hop->second.first);
            continue;
        }
        if (r.next != r.to) {
            table->AddHostRouteTo(AddressOf(nodes, r.to), AddressOf(nodes, r.next), 1);
        }
        KnowNeighbour(nodes, radios, r.at, r.next, d);
        KnowNeighbour(nodes, radios, r.next, r.at, d);
    }

    g_meters.resize(d.flows.size());
    std::vector<std::unique_ptr<Application>> applications;
    for (size_t k = 0; k < d.flows.size(); ++k) {
        applications.push_back(std::make_unique<Application>(d.flows[k], &g_meters[k], nodes, kFirstPort + k));
    }
    FlowMonitorHelper monitoring;
    monitoring.SetMonitorAttribute("StartTime", TimeValue(Seconds(d.warmup)));
    auto monitor = monitoring.InstallAll();
    Simulator::Schedule(Seconds(d.warmup), &PrintCounters, "begin");
    Simulator::Schedule(Seconds(d.warmup), &EverySecond);
    Simulator::Schedule(Seconds(d.warmup), &SampleRtt);
    Simulator::Stop(Seconds(d.duration) + NanoSeconds(1));
    Simulator::Run();

    PrintCounters("end");
    auto classifier = DynamicCast<Ipv4FlowClassifier>(monitoring.GetClassifier());
    for (const auto& [id, stats] : monitor->GetFlowStats()) {
        const uint16_t port = classifier->FindFlow(id).destinationPort;
        if (port >= kFirstPort && port < kFirstPort + d.flows.size()) {
            std::cout << "delay " << port - kFirstPort << " " << stats.delaySum.GetSeconds() << " " << stats.rxPackets << "\n";
        }
    }
    for (size_t k = 0; k < g_meters.size(); ++k) {
        std::cout << "rtt " << k << " " << g_meters[k].rttSum << " " << g_meters[k].rttCount << "\n";
    }
    std::cout << "finished" << std::endl;
    Simulator::Destroy();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: crosscheck DESCRIPTION SEED" << std::endl;
        return 2;
    }
    try {
        std::cout << std::setprecision(12);
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(std::stoull(argv[2]));
        Simulate(crosscheck::Read(argv[1]));
    } catch (const std::exception& problem) {
        std::cerr << "crosscheck: " << problem.what() << std::endl;
        return 2;
    }
    return 0;
}
