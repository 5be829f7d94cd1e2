/* One TCP flow over a wired bottleneck, ns-3.37 as Debian has it; the same as bench/ns2/dumbbell.tcl:
 *
 *     s -- 100 Mbit/s, 1 ms -- r0 == mbps, delay, queue packets == r1 -- 100 Mbit/s, 1 ms -- t
 *
 *   g++ -std=c++17 -O2 bench/ns3/dumbbell.cc -o dumbbell $(printf -- ' -lns3-%s' point-to-point applications internet network core)
 *
 *   dumbbell --cc=cubic|reno|vegas|westwood|bbr --mbps=10 --delay=25 --queue=50 --time=120 --warm=20 --run=1
 *
 * Prints one JSON line: goodput (kbit/s of payload), and the means of tenths of a second of window (segments) and queue at r0 (packets).
 * Every segment is acknowledged; no queue discipline stands before the devices, as ns-2 has none.
 */
#include <iostream>
#include <map>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace {
constexpr uint32_t SEGMENT = 1448;
double g_end = 120, g_warm = 20;
uint32_t g_window = 0;
double g_windows = 0, g_waiting = 0;
uint32_t g_samples = 0;
uint64_t g_received = 0;

void Windowed(uint32_t, uint32_t now) { g_window = now; }
void Received(Ptr<const Packet> packet, const Address&) {
    if (Simulator::Now().GetSeconds() >= g_warm) g_received += packet->GetSize();
}
void Sample(Ptr<Queue<Packet>> queue) {
    if (Simulator::Now().GetSeconds() >= g_warm) {
        g_windows += double(g_window) / SEGMENT;
        g_waiting += queue->GetNPackets();
        ++g_samples;
    }
    Simulator::Schedule(Seconds(0.1), &Sample, queue);
}
void Traced() { Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionWindow", MakeCallback(&Windowed)); }
}  // namespace

int main(int argc, char** argv) {
    std::string cc = "cubic";
    double mbps = 10, delay = 25;
    uint32_t queue = 50, run = 1;
    CommandLine cmd;
    cmd.AddValue("cc", "cubic, reno, vegas, westwood (Westwood+), bbr", cc);
    cmd.AddValue("mbps", "rate of the bottleneck, Mb/s", mbps);
    cmd.AddValue("delay", "its delay, ms", delay);
    cmd.AddValue("queue", "its queue, packets", queue);
    cmd.AddValue("time", "end, s", g_end);
    cmd.AddValue("warm", "measure from, s", g_warm);
    cmd.AddValue("run", "seed", run);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run);

    const std::map<std::string, std::string> types{{"cubic", "ns3::TcpCubic"}, {"reno", "ns3::TcpLinuxReno"},
        {"vegas", "ns3::TcpVegas"}, {"westwood", "ns3::TcpWestwood"}, {"bbr", "ns3::TcpBbr"}};
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(types.at(cc))));
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(32 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes;
    nodes.Create(4);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    // With 12 bytes of time stamps a packet has 1500 bytes, as ours; ns-3 puts 2 of PPP before it.
    const auto join = [&](uint32_t a, double rate, double wait, uint32_t room) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
        link.SetDeviceAttribute("Mtu", UintegerValue(1600));
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(wait * 1000)));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, room)));
        NetDeviceContainer devices = link.Install(nodes.Get(a), nodes.Get(a + 1));
        const std::string net = "10.1." + std::to_string(a) + ".0";
        Ipv4AddressHelper addresses(net.c_str(), "255.255.255.0");
        addresses.Assign(devices);
        return devices;
    };
    join(0, 100, 1, 10000);
    NetDeviceContainer narrow = join(1, mbps, delay, queue);
    join(2, 100, 1, 10000);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const Ipv4Address target = nodes.Get(3)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer sinks = sink.Install(nodes.Get(3));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(target, 5001));
    bulk.SetAttribute("SendSize", UintegerValue(SEGMENT));
    bulk.Install(nodes.Get(0)).Start(Seconds(0));
    Simulator::Schedule(MicroSeconds(1), &Traced);
    Simulator::Schedule(Seconds(0), &Sample, DynamicCast<PointToPointNetDevice>(narrow.Get(0))->GetQueue());
    Simulator::Stop(Seconds(g_end));
    Simulator::Run();
    std::cout << "{\"goodput\": " << g_received * 8 / (g_end - g_warm) / 1e3 << ", \"window\": " << g_windows / g_samples
              << ", \"queue\": " << g_waiting / g_samples << "}\n";
    Simulator::Destroy();
}
