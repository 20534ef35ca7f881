// SPDX-License-Identifier: GPL-2.0-only
// A trial of 98-0876R1 in ns-3: web servers and clients on both sides of one link of ATM cells.
//
// Usage: dumbbell OPTION VALUE ... < SCHEDULE
// SCHEDULE: the bytes of a request, and a line for each, by time: pair due_ns header_bytes file_bytes
// Prints "received BYTES TIMEOUTS" for each pair, then "queue ARRIVED DROPPED MOST_CELLS".

#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/ppp-header.h"

using namespace ns3;

namespace
{

constexpr uint32_t CELL_BYTES = 53, CELL_PAYLOAD = 48, AAL5_BYTES = 16, PPP_BYTES = 2;
constexpr uint16_t PORT = 80;
const Time CONNECT_AT = Seconds(1); // the handshakes are over long before the first request
const Time BEGIN = Seconds(10);

std::map<std::string, std::string> options;
uint32_t request_bytes;

double number(const std::string& name)
{
    return std::stod(options.at(name));
}

uint32_t cells_of(uint32_t ip_bytes)
{
    return (ip_bytes + AAL5_BYTES + CELL_PAYLOAD - 1) / CELL_PAYLOAD;
}

// A queue that counts cells. A packet leaves it as long as its cells are: IP takes the padding off.
class CellQueue : public Queue<Packet>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("CellQueue").SetParent<Queue<Packet>>().AddConstructor<CellQueue>();
        return id;
    }

    // Cells for which there is room, the policy's threshold in cells, and Selective Drop's Z.
    void limit(uint32_t room, double threshold, bool selective, double z, DataRate rate)
    {
        m_room = room;
        m_threshold = threshold;
        m_selective = selective;
        m_z = z;
        m_rate = rate;
    }

    bool Enqueue(Ptr<Packet> packet) override
    {
        const uint32_t cells = cells_of(packet->GetSize() - PPP_BYTES);
        m_arrived++;
        const Ipv4Address client = m_selective ? destination(packet) : Ipv4Address();
        if (m_room && refused(client, cells))
        {
            m_dropped++;
            DropBeforeEnqueue(packet);
            return false;
        }
        m_cells += cells;
        if (m_selective)
            m_of[client] += cells;
        if (m_room)
            m_most = std::max(m_most, occupancy());
        return DoEnqueue(GetContainer().end(), packet);
    }

    Ptr<Packet> Dequeue() override
    {
        Ptr<Packet> packet = DoDequeue(GetContainer().begin());
        if (packet)
        {
            const uint32_t cells = cells_of(packet->GetSize() - PPP_BYTES);
            const Ipv4Address client = m_selective ? destination(packet) : Ipv4Address();
            m_cells -= cells;
            if (m_selective && !(m_of[client] -= cells))
                m_of.erase(client);
            packet->AddPaddingAtEnd(CELL_BYTES * cells - packet->GetSize());
            if (m_room)
                m_busy_until = Simulator::Now() + m_rate.CalculateBytesTxTime(CELL_BYTES * cells);
        }
        return packet;
    }

    Ptr<Packet> Remove() override
    {
        return DoRemove(GetContainer().begin());
    }

    Ptr<const Packet> Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

    void print() const
    {
        std::cout << "queue " << m_arrived << ' ' << m_dropped << ' ' << m_most << '\n';
    }

  private:
    // Of waiting packets, and of the one that is being sent what has not left.
    uint32_t occupancy() const
    {
        const Time left = m_busy_until - Simulator::Now();
        const Time cell = m_rate.CalculateBytesTxTime(CELL_BYTES);
        if (!left.IsStrictlyPositive())
            return m_cells;
        return m_cells + (left.GetNanoSeconds() + cell.GetNanoSeconds() - 1) / cell.GetNanoSeconds();
    }

    bool refused(Ipv4Address client, uint32_t cells) const
    {
        const uint32_t held = occupancy();
        if (held + cells > m_room)
            return true;
        if (held <= m_threshold)
            return false;
        if (!m_selective)
            return true;
        const auto own = m_of.find(client);
        return own != m_of.end() && own->second > m_z * held / m_of.size();
    }

    static Ipv4Address destination(Ptr<const Packet> packet)
    {
        Ptr<Packet> copy = packet->Copy();
        PppHeader ppp;
        Ipv4Header ip;
        copy->RemoveHeader(ppp);
        copy->PeekHeader(ip);
        return ip.GetDestination();
    }

    uint32_t m_room = 0, m_cells = 0, m_most = 0;
    uint64_t m_arrived = 0, m_dropped = 0;
    double m_threshold = 0, m_z = 0;
    bool m_selective = false;
    DataRate m_rate;
    Time m_busy_until;
    std::map<Ipv4Address, uint32_t> m_of;
};

struct Request
{
    Time due;
    uint32_t header_bytes, file_bytes;
};

// A client and its server: one connection, requests in a pipeline.
class Pair
{
  public:
    void request(const Request& one)
    {
        m_requests.push_back(one);
    }

    void install(Ptr<Node> server, Ptr<Node> client, Ipv4Address address)
    {
        m_listening = Socket::CreateSocket(server, TcpSocketFactory::GetTypeId());
        m_listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_listening->Listen();
        m_listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                       MakeCallback(&Pair::accept, this));
        m_client = Socket::CreateSocket(client, TcpSocketFactory::GetTypeId());
        m_client->SetRecvCallback(MakeCallback(&Pair::receive, this));
        Simulator::Schedule(CONNECT_AT, &Pair::connect, this, address);
        for (const Request& one : m_requests)
            Simulator::Schedule(BEGIN + one.due, &Pair::ask, this);
    }

    void print() const
    {
        std::cout << "received " << m_received << ' ' << m_timeouts << '\n';
    }

  private:
    void connect(Ipv4Address address)
    {
        m_client->Connect(InetSocketAddress(address, PORT));
    }

    void accept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Pair::answer, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Pair::state, this));
    }

    void ask()
    {
        m_client->Send(Create<Packet>(request_bytes));
    }

    void answer(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
            m_asked += packet->GetSize();
        for (; m_asked >= request_bytes; m_asked -= request_bytes)
        {
            const Request& one = m_requests.at(m_answered++);
            if (one.header_bytes)
                socket->Send(Create<Packet>(one.header_bytes));
            socket->Send(Create<Packet>(one.file_bytes));
        }
    }

    void receive(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
            m_received += packet->GetSize();
    }

    void state(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        m_timeouts += now == TcpSocketState::CA_LOSS;
    }

    std::deque<Request> m_requests;
    Ptr<Socket> m_listening, m_client;
    size_t m_answered = 0;
    uint64_t m_asked = 0, m_received = 0, m_timeouts = 0;
};

void set_senders()
{
    const Time tick = Seconds(number("tick_s"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(number("sack") != 0));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(number("rto_min_s"))));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(tick));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(number("mss")));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(number("first_window")));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(number("ssthresh")));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(number("window")));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
}

NetDeviceContainer link(Ptr<Node> a, Ptr<Node> b, double rate_bit_per_s, double delay_s)
{
    PointToPointHelper helper;
    helper.DisableFlowControl(); // no queue but the device's
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate_bit_per_s))));
    helper.SetDeviceAttribute("Mtu", UintegerValue(9300));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay_s)));
    NetDeviceContainer devices = helper.Install(a, b);
    for (uint32_t end = 0; end < 2; end++)
    {
        Ptr<CellQueue> queue = CreateObject<CellQueue>();
        queue->SetMaxSize(QueueSize("1000000000p"));
        DynamicCast<PointToPointNetDevice>(devices.Get(end))->SetQueue(queue);
    }
    return devices;
}

Ptr<CellQueue> queue_of(Ptr<NetDevice> device)
{
    return DynamicCast<CellQueue>(DynamicCast<PointToPointNetDevice>(device)->GetQueue());
}

void default_route(Ptr<Node> node, Ipv4Address gateway, uint32_t interface)
{
    Ipv4StaticRoutingHelper helper;
    helper.GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, interface);
}

// Hosts on one side: their addresses, in the order of the pairs.
std::vector<Ipv4Address> hosts(const NodeContainer& nodes, Ptr<Node> router, const char* base)
{
    std::vector<Ipv4Address> found;
    Ipv4AddressHelper addresses(base, "255.255.255.252");
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        const Ipv4InterfaceContainer made = addresses.Assign(
            link(nodes.Get(i), router, number("access_rate"), number("access_delay_s")));
        default_route(nodes.Get(i), made.GetAddress(1), made.Get(0).second);
        addresses.NewNetwork();
        found.push_back(made.GetAddress(0));
    }
    return found;
}

Ptr<CellQueue> middle(Ptr<Node> left, Ptr<Node> right)
{
    const NetDeviceContainer devices = link(left, right, number("rate"), number("delay_s"));
    const Ipv4InterfaceContainer made =
        Ipv4AddressHelper("10.3.0.0", "255.255.255.252").Assign(devices);
    default_route(left, made.GetAddress(1), made.Get(0).second);
    default_route(right, made.GetAddress(0), made.Get(1).second);
    Ptr<CellQueue> down = queue_of(devices.Get(0));
    down->limit(number("room"), number("threshold"), options.at("policy") == "sd", number("z"),
                DataRate(uint64_t(number("rate"))));
    return down;
}

void read_schedule(std::vector<Pair>& pairs)
{
    uint64_t pair, due_ns, header_bytes, file_bytes;
    std::cin >> request_bytes;
    while (std::cin >> pair >> due_ns >> header_bytes >> file_bytes)
        pairs.at(pair - 1).request({NanoSeconds(due_ns), uint32_t(header_bytes), uint32_t(file_bytes)});
}

} // namespace

int main(int argc, char** argv)
{
    for (int i = 1; i + 1 < argc; i += 2)
        options[argv[i]] = argv[i + 1];
    set_senders();
    NodeContainer routers(2), servers(number("pairs")), clients(number("pairs"));
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.Install(NodeContainer(routers, servers, clients));
    const std::vector<Ipv4Address> of_servers = hosts(servers, routers.Get(0), "10.1.0.0");
    hosts(clients, routers.Get(1), "10.2.0.0");
    Ptr<CellQueue> queue = middle(routers.Get(0), routers.Get(1));
    std::vector<Pair> pairs(servers.GetN());
    read_schedule(pairs);
    for (uint32_t i = 0; i < pairs.size(); i++)
        pairs[i].install(servers.Get(i), clients.Get(i), of_servers[i]);
    Simulator::Stop(BEGIN + Seconds(number("duration_s")));
    Simulator::Run();
    for (const Pair& pair : pairs)
        pair.print();
    queue->print();
    pairs.clear(); // sockets go before their nodes
    Simulator::Destroy();
    return 0;
}
