/* A chain of 802.11n, 802.11ac or 802.11ax ad hoc nodes (5 GHz, constant MCS) with TCP or CBR over it; ns-3.37 as Debian has it,
 * with NIST's error rates and resolved addresses. Delays are those of the whole run.
 *
 *   g++ -std=c++17 -O2 bench/ns3/chain.cc -o chain $(printf -- ' -lns3-%s' wifi applications internet flow-monitor \
 *       traffic-control propagation mobility spectrum antenna network stats core)
 *
 *   chain --h=4 --cc=cubic|bbr|newreno|fixed|udp --d=2 ...      prints one JSON line
 *
 * "fixed" is a window that never moves (--window segments), paced at --rate Mb/s if that is > 0: the oracle.
 * Rates and goodputs count the 1448 payload bytes of packets of 1500 bytes at IP, for UDP too.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace {
uint32_t g_window = 2000;

/* A window that never moves. */
class TcpFixed : public TcpNewReno {
  public:
    static TypeId GetTypeId() {
        static TypeId tid = TypeId("ns3::TcpFixed").SetParent<TcpNewReno>().AddConstructor<TcpFixed>();
        return tid;
    }
    std::string GetName() const override { return "TcpFixed"; }
    void Init(Ptr<TcpSocketState> tcb) override { tcb->m_cWnd = g_window * tcb->m_segmentSize; tcb->m_cWndInfl = tcb->m_cWnd; }
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t) override {
        tcb->m_cWnd = g_window * tcb->m_segmentSize;
        tcb->m_cWndInfl = tcb->m_cWnd;
    }
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t) override { return g_window * tcb->m_segmentSize; }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<TcpFixed>(this); }
};
NS_OBJECT_ENSURE_REGISTERED(TcpFixed);

double g_warm = 5;
WifiPhyBand g_band = WIFI_PHY_BAND_5GHZ;
double g_airData = 0, g_airAck = 0, g_airCtl = 0, g_airMgt = 0;
uint64_t g_dataPsdu = 0, g_dataMpdu = 0, g_ackPsdu = 0, g_ackMpdu = 0, g_retryMpdu = 0, g_ctl = 0;
std::map<int, uint64_t> g_drops;
uint64_t g_qdrops = 0;
std::vector<double> g_rtt;

void TxPsdu(WifiConstPsduMap psdus, WifiTxVector v, double) {
    if (Simulator::Now().GetSeconds() < g_warm) return;
    const double t = WifiPhy::CalculateTxDuration(psdus, v, g_band).GetSeconds();
    for (const auto& [id, psdu] : psdus) {
        const auto& head = psdu->GetHeader(0);
        if (head.IsMgt()) { g_airMgt += t; continue; }
        if (!head.IsData()) { g_airCtl += t; ++g_ctl; continue; }
        uint64_t big = 0, small = 0;
        double bigBytes = 0, bytes = 0;
        for (size_t k = 0; k < psdu->GetNMpdus(); ++k) {
            const double size = psdu->GetPayload(k)->GetSize();
            bytes += size;
            if (size > 400) { ++big; bigBytes += size; } else ++small;
            if (psdu->GetHeader(k).IsRetry()) ++g_retryMpdu;
        }
        if (big) { ++g_dataPsdu; g_dataMpdu += big; }
        else ++g_ackPsdu;
        g_ackMpdu += small;
        g_airData += t * bigBytes / bytes;
        g_airAck += t * (1 - bigBytes / bytes);
    }
}
/* Sends `burst` segments every so often, the gaps spread by +-jitter. */
struct Bursts {
    Ptr<Socket> socket;
    uint32_t burst;
    double gap, jitter;
    Ptr<UniformRandomVariable> u;
    void Tick() {
        if (socket->GetTxAvailable() > 2 * burst * 1448) socket->Send(Create<Packet>(burst * 1448));
        Simulator::Schedule(Seconds(gap * (1 + jitter * u->GetValue(-1, 1))), &Bursts::Tick, this);
    }
};
void Dropped(WifiMacDropReason why, Ptr<const WifiMpdu>) { if (Simulator::Now().GetSeconds() >= g_warm) ++g_drops[int(why)]; }
void QDrop(Ptr<const QueueDiscItem>) { if (Simulator::Now().GetSeconds() >= g_warm) ++g_qdrops; }
void Rtt(Time, Time now) { if (Simulator::Now().GetSeconds() >= g_warm) g_rtt.push_back(now.GetSeconds()); }
}  // namespace

int main(int argc, char** argv) {
    uint32_t h = 4, mcs = 4, ampdu = 65535, amsdu = 0, d = 2, run = 1, window = 2000, queueLen = 0, width = 20, streams = 1, guard = 800;
    bool rts = false, two = false, pace = false, capture = false;
    double rate = 0, seconds = 65, rss = -70, exponent = 3, cs = -82, delackMs = 100, minRtoMs = 1000, jitter = 0;
    uint32_t burst = 0;
    std::string cc = "cubic", queue = "default", tag = "", standard = "n";
    CommandLine cmd;
    cmd.AddValue("h", "hops", h);
    cmd.AddValue("mcs", "MCS, of 802.11n its streams among it", mcs);
    cmd.AddValue("width", "MHz", width);
    cmd.AddValue("streams", "spatial streams of ac and ax", streams);
    cmd.AddValue("gi", "guard interval, ns", guard);
    cmd.AddValue("ampdu", "largest A-MPDU in bytes, 0 none", ampdu);
    cmd.AddValue("amsdu", "largest A-MSDU in bytes, 0 none", amsdu);
    cmd.AddValue("d", "segments an ACK", d);
    cmd.AddValue("delack", "delayed ACK timeout, ms", delackMs);
    cmd.AddValue("minrto", "smallest RTO, ms", minRtoMs);
    cmd.AddValue("burst", "fixed: the application sends so many segments at once, at --rate in all; TCP does not pace", burst);
    cmd.AddValue("jitter", "burst: gaps spread by +- this share", jitter);
    cmd.AddValue("run", "seed", run);
    cmd.AddValue("window", "fixed: window in segments", window);
    cmd.AddValue("rate", "fixed: pacing rate; udp: rate; Mb/s", rate);
    cmd.AddValue("queue", "default (FqCoDel over 500), fifo (no qdisc), fq (FqCoDel over --qlen)", queue);
    cmd.AddValue("qlen", "WifiMacQueue length in packets", queueLen);
    cmd.AddValue("rts", "RTS before every data frame", rts);
    cmd.AddValue("two", "second flow the other way", two);
    cmd.AddValue("pace", "pace cubic/newreno", pace);
    cmd.AddValue("capture", "SimpleFrameCaptureModel", capture);
    cmd.AddValue("cc", "cubic, bbr, newreno, vegas, ledbat, fixed, udp", cc);
    cmd.AddValue("time", "end, s", seconds);
    cmd.AddValue("warm", "measure from, s", g_warm);
    cmd.AddValue("rss", "neighbour's power, dBm", rss);
    cmd.AddValue("exp", "path loss exponent", exponent);
    cmd.AddValue("cs", "preamble detection threshold, dBm", cs);
    cmd.AddValue("std", "n, ac, ax, or b (11 Mb/s, control 1 Mb/s long preamble) for comparison", standard);
    cmd.AddValue("tag", "free text, echoed", tag);
    cmd.Parse(argc, argv);
    g_window = window;
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run);

    std::map<std::string, std::string> types{{"cubic", "ns3::TcpCubic"}, {"bbr", "ns3::TcpBbr"}, {"newreno", "ns3::TcpNewReno"},
        {"vegas", "ns3::TcpVegas"}, {"ledbat", "ns3::TcpLedbat"}, {"fixed", "ns3::TcpFixed"}, {"udp", "ns3::TcpNewReno"}};
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(types.at(cc))));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(cc == "fixed" ? window : 10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(d));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MicroSeconds(delackMs * 1000)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MicroSeconds(minRtoMs * 1000)));
    if (pace || (cc == "fixed" && rate > 0 && !burst)) {
        Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(true));
        Config::SetDefault("ns3::TcpSocketState::PaceInitialWindow", BooleanValue(true));
    }
    if (cc == "fixed" && rate > 0 && !burst)
        Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate(uint64_t(rate * 1e6 * 1500 / 1448))));
    const uint32_t macQueue = queueLen ? queueLen : (queue == "default" ? 500 : 50);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(std::to_string(macQueue) + "p")));
    if (queue == "fifo") Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10)));

    NodeContainer nodes;
    nodes.Create(h + 1);
    // 16 dBm, no gains, 46.67 dB at 1 m
    const double spacing = std::pow(10.0, (16 - 46.6777 - rss) / (10 * exponent));
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t k = 0; k <= h; ++k) places->Add(Vector(k * spacing, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(exponent));
    YansWifiPhyHelper phy;
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.SetChannel(channel.Create());
    const bool b = standard == "b";
    if (b) g_band = WIFI_PHY_BAND_2_4GHZ;
    const std::map<uint32_t, std::string> channels{{20, "36"}, {40, "38"}, {80, "42"}, {160, "50"}};
    phy.Set("ChannelSettings", StringValue(b ? "{1, 22, BAND_2_4GHZ, 0}" : "{" + channels.at(width) + ", " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    // Preambles below `cs` are not detected; their power alone must not keep the medium busy either.
    phy.Set("CcaSensitivity", DoubleValue(cs));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(cs));
    if (capture) phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel");
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "BE_MaxAmpduSize", UintegerValue(ampdu), "BE_MaxAmsduSize", UintegerValue(amsdu));
    WifiHelper wifi;
    const std::map<std::string, std::pair<WifiStandard, std::string>> standards{{"b", {WIFI_STANDARD_80211b, ""}},
        {"n", {WIFI_STANDARD_80211n, "HtMcs"}}, {"ac", {WIFI_STANDARD_80211ac, "VhtMcs"}}, {"ax", {WIFI_STANDARD_80211ax, "HeMcs"}}};
    wifi.SetStandard(standards.at(standard).first);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(b ? "DsssRate11Mbps" : standards.at(standard).second + std::to_string(mcs)),
                                 "ControlMode", StringValue(b ? "DsssRate1Mbps" : "OfdmRate24Mbps"), "RtsCtsThreshold", UintegerValue(rts ? 0 : 4692480));
    NetDeviceContainer radios = wifi.Install(phy, mac, nodes);
    for (uint32_t k = 0; k <= h; ++k) {
        auto device = DynamicCast<WifiNetDevice>(radios.Get(k));
        if (device->GetHtConfiguration()) device->GetHtConfiguration()->SetShortGuardIntervalSupported(guard == 400);
        if (auto he = device->GetHeConfiguration()) {
            he->SetGuardInterval(NanoSeconds(guard));
            he->SetMpduBufferSize(256);
        }
    }
    wifi.AssignStreams(radios, 1000);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.Install(nodes);
    if (queue != "fifo") {
        TrafficControlHelper tc;
        tc.SetRootQueueDisc("ns3::FqCoDelQueueDisc");
        tc.Install(radios);
    }
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    Ipv4InterfaceContainer ips = addresses.Assign(radios);
    if (queue == "fifo") TrafficControlHelper().Uninstall(radios);
    for (uint32_t a = 0; a <= h; ++a) {
        auto cache = nodes.Get(a)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        for (uint32_t b = 0; b <= h; ++b) {
            if (a == b) continue;
            auto entry = cache->Add(ips.GetAddress(b));
            entry->SetMacAddress(radios.Get(b)->GetAddress());
            entry->MarkPermanent();
        }
    }
    for (uint32_t k = 0; k <= h; ++k) {
        auto table = Ipv4RoutingHelper::GetRouting<Ipv4StaticRouting>(nodes.Get(k)->GetObject<Ipv4>()->GetRoutingProtocol());
        for (uint32_t to : {0u, h}) {
            if (to == k) continue;
            const uint32_t next = to > k ? k + 1 : k - 1;
            if (next != to) table->AddHostRouteTo(ips.GetAddress(to), ips.GetAddress(next), 1);
        }
    }

    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> before(2, 0);
    const bool udp = cc == "udp";
    std::vector<std::unique_ptr<Bursts>> bursts;
    auto jitter_ = CreateObject<UniformRandomVariable>();
    for (uint32_t f = 0; f < (two ? 2u : 1u); ++f) {
        const uint32_t from = f ? h : 0, to = f ? 0 : h;
        InetSocketAddress there(ips.GetAddress(to), 5000 + f);
        PacketSinkHelper sink(udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory", there);
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(to)).Get(0)));
        const double start = 1 + 0.1 * jitter_->GetValue();
        if (udp) {
            UdpClientHelper client(ips.GetAddress(to), 5000 + f);
            client.SetAttribute("MaxPackets", UintegerValue(4000000000u));
            client.SetAttribute("PacketSize", UintegerValue(1472));
            client.SetAttribute("Interval", TimeValue(Seconds(1448 * 8 / (rate * 1e6))));
            client.Install(nodes.Get(from)).Start(Seconds(start));
        } else if (burst) {
            auto socket = Socket::CreateSocket(nodes.Get(from), TcpSocketFactory::GetTypeId());
            Simulator::Schedule(Seconds(start), [socket, there]() { socket->Connect(there); });
            bursts.push_back(std::make_unique<Bursts>(Bursts{socket, burst, burst * 1448 * 8 / (rate * 1e6), jitter, jitter_}));
            Simulator::Schedule(Seconds(start + 0.2), &Bursts::Tick, bursts.back().get());
        } else {
            BulkSendHelper bulk("ns3::TcpSocketFactory", there);
            bulk.SetAttribute("MaxBytes", UintegerValue(0));
            bulk.SetAttribute("SendSize", UintegerValue(1448));
            bulk.Install(nodes.Get(from)).Start(Seconds(start));
        }
    }
    if (!udp)
        for (uint32_t f = 0; f < (two ? 2u : 1u); ++f)
            Simulator::Schedule(Seconds(1.2), [f, h]() {
                Config::ConnectWithoutContextFailSafe("/NodeList/" + std::to_string(f ? h : 0) + "/$ns3::TcpL4Protocol/SocketList/*/RTT",
                                              MakeCallback(&Rtt));
            });
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxPsduBegin", MakeCallback(&TxPsdu));
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Mac/DroppedMpdu", MakeCallback(&Dropped));
    Config::ConnectWithoutContextFailSafe("/NodeList/*/$ns3::TrafficControlLayer/RootQueueDiscList/*/Drop", MakeCallback(&QDrop));

    FlowMonitorHelper helper;
    helper.SetMonitorAttribute("DelayBinWidth", DoubleValue(0.0005));
    NodeContainer ends(nodes.Get(0), nodes.Get(h));
    Ptr<FlowMonitor> monitor = helper.Install(ends);
    Simulator::Schedule(Seconds(g_warm), [&]() {
        monitor->CheckForLostPackets();
        for (size_t k = 0; k < sinks.size(); ++k) before[k] = sinks[k]->GetTotalRx();
    });
    Simulator::Stop(Seconds(seconds));
    const auto t0 = std::chrono::steady_clock::now();
    const std::clock_t c0 = std::clock();
    Simulator::Run();
    const double cpu = double(std::clock() - c0) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - t0;

    const double span = seconds - g_warm;
    const double unit = udp ? 1448.0 / 1472 : 1;
    double total = 0, squares = 0;
    std::vector<double> good;
    for (size_t k = 0; k < sinks.size(); ++k) {
        good.push_back((sinks[k]->GetTotalRx() - before[k]) * 8e-6 * unit / span);
        total += good.back();
        squares += good.back() * good.back();
    }
    // delays: data flows and ACK flows apart
    auto classifier = DynamicCast<Ipv4FlowClassifier>(helper.GetClassifier());
    double dSum = 0, aSum = 0;
    uint64_t dRx = 0, aRx = 0, dTx = 0, aTx = 0;
    std::map<uint32_t, uint64_t> hist;
    for (auto [id, s] : monitor->GetFlowStats()) {
        const auto t = classifier->FindFlow(id);
        if (t.destinationPort >= 5000 && t.destinationPort < 5010) {
            dSum += s.delaySum.GetSeconds(); dRx += s.rxPackets; dTx += s.txPackets;
            for (uint32_t b = 0; b < s.delayHistogram.GetNBins(); ++b) hist[b] += s.delayHistogram.GetBinCount(b);
        } else {
            aSum += s.delaySum.GetSeconds(); aRx += s.rxPackets; aTx += s.txPackets;
        }
    }
    uint64_t all = 0, seen = 0;
    for (auto& [b, n] : hist) all += n;
    double p95 = 0, p50 = 0;
    for (auto& [b, n] : hist) {
        seen += n;
        if (!p50 && seen >= 0.5 * all) p50 = (b + 1) * 0.5;
        if (seen >= 0.95 * all) { p95 = (b + 1) * 0.5; break; }
    }
    std::sort(g_rtt.begin(), g_rtt.end());
    double rttMean = 0;
    for (double r : g_rtt) rttMean += r;
    rttMean = g_rtt.empty() ? 0 : rttMean / g_rtt.size();
    const double rtt95 = g_rtt.empty() ? 0 : g_rtt[size_t(0.95 * (g_rtt.size() - 1))];
    const double delivered = total * 1e6 * span / 8 / 1448;
    std::cout << "{\"std\":\"" << standard << "\",\"h\":" << h << ",\"mcs\":" << mcs << ",\"width\":" << width << ",\"streams\":" << streams << ",\"gi\":" << guard << ",\"ampdu\":" << ampdu << ",\"cc\":\"" << cc << "\",\"d\":" << d << ",\"run\":" << run
              << ",\"window\":" << window << ",\"rate\":" << rate << ",\"queue\":\"" << queue << "\",\"qlen\":" << macQueue << ",\"rts\":" << rts
              << ",\"two\":" << two << ",\"pace\":" << pace << ",\"capture\":" << capture << ",\"rss\":" << rss << ",\"exp\":" << exponent << ",\"cs\":" << cs
              << ",\"time\":" << seconds << ",\"delack\":" << delackMs << ",\"minrto\":" << minRtoMs << ",\"burst\":" << burst << ",\"jitter\":" << jitter << ",\"tag\":\"" << tag << "\""
              << ",\"goodput\":" << total << ",\"g0\":" << good[0] << ",\"g1\":" << (two ? good[1] : 0)
              << ",\"jain\":" << (squares > 0 ? total * total / (good.size() * squares) : 0)
              << ",\"owd\":" << (dRx ? 1e3 * dSum / dRx : 0) << ",\"owd50\":" << p50 << ",\"owd95\":" << p95 << ",\"ackowd\":" << (aRx ? 1e3 * aSum / aRx : 0)
              << ",\"rtt\":" << 1e3 * rttMean << ",\"rtt95\":" << 1e3 * rtt95
              << ",\"retx\":" << (udp || !dTx ? 0 : std::max(0.0, 1 - delivered / dTx)) << ",\"dtx\":" << dTx << ",\"drx\":" << dRx << ",\"atx\":" << aTx
              << ",\"segs_per_ack\":" << (aTx ? delivered / aTx : 0)
              << ",\"air_data\":" << g_airData / span << ",\"air_ack\":" << g_airAck / span << ",\"air_ctl\":" << g_airCtl / span << ",\"air_mgt\":" << g_airMgt / span
              << ",\"agg_data\":" << (g_dataPsdu ? double(g_dataMpdu) / g_dataPsdu : 0) << ",\"data_psdu\":" << g_dataPsdu
              << ",\"ack_psdu\":" << g_ackPsdu << ",\"ack_mpdu\":" << g_ackMpdu << ",\"retry_mpdu\":" << g_retryMpdu << ",\"ctl\":" << g_ctl
              << ",\"qdrops\":" << g_qdrops << ",\"mac_drops\":{";
    bool first = true;
    for (auto& [why, n] : g_drops) { std::cout << (first ? "" : ",") << "\"" << why << "\":" << n; first = false; }
    std::cout << "},\"spacing\":" << spacing << ",\"wall\":" << wall.count() << ",\"cpu\":" << cpu << ",\"events\":" << Simulator::GetEventCount() << "}" << std::endl;
    Simulator::Destroy();
}
