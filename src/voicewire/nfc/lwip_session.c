/* One TCP session between two ends of a real lwIP, over a simulated slotted half-duplex link, in virtual time.
 *
 * Nothing waits: lwIP's TCP timers are called whenever 250 ms of simulated time have passed, and each packet that
 * a stack puts out is handed to the other end when the link has carried it and the response latency is over.
 * Compiled on demand by voicewire.nfc.lwip against the packaged library. One process, one session.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwip/init.h"
#include "lwip/ip.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/tcp.h"

#define DEVICE 0    /* the end-user device, which sends */
#define APPLIANCE 1 /* which receives */
#define QUEUE 4096
#define PORT 7
#define TMR_US 250000
#define PATIENCE_US (3600LL * 1000000)

typedef struct { int64_t at; int len; uint8_t bytes[1600]; } packet;
typedef struct { packet *slot[QUEUE]; int head, count; } fifo;

static struct netif netifs[2];
static fifo sending[2], arriving[2]; /* waiting for the link at an end; on the way into an end's stack */
static int64_t now, busy_until = -1, quiet_at;
static int on_air = -1, last_direction = 0, on_air_lost;
static packet *crossing;
static struct tcp_pcb *client, *server;
static long size, written, acknowledged, delivered, send_buffer, window, window_limit;
static long data_sent, data_lost, acks_sent, again, every, air;
static uint32_t highest[2], first_sequence, mss;
static long seen[2], turns, received; /* data packets by direction; of an exchange: packets of each end, bytes back */
static int flip; /* the bit that is turned in a packet that would be lost, which then arrives; -1: lost packets are gone */
static double to_bad, to_good; /* as in voicewire.nfc.channel: errors, and where to_good is not 0 bursts of them */
static int bad;
static uint64_t state;
static const char *lost_segments; /* ",3,7," */
static int connected, close_now, closed, failed, quick, rto_ticks;
static long latency[2], slot_us, payload, framing;

static void die(const char *why) { fprintf(stderr, "lwip_session: %s\n", why); exit(1); }

static double uniform(void) { /* splitmix64 */
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Whether the channel hits one of so many bits: independent errors, or a stay in one of two states at a time. */
static int spoiled(double left) {
    int hit = 0;
    if (to_bad <= 0) return 0;
    if (to_good <= 0) return uniform() < -expm1(left * log1p(-to_bad));
    for (;;) {
        double leave = bad ? to_good : to_bad;
        double stay = leave >= 1 ? 1 : floor(log1p(-uniform()) / log1p(-leave)) + 1;
        hit = hit || (bad && left > 0);
        if (stay > left) return hit;
        left -= stay;
        bad = !bad;
    }
}

static void put(fifo *queue, packet *p) {
    if (queue->count == QUEUE) die("a queue overflowed");
    queue->slot[(queue->head + queue->count++) % QUEUE] = p;
}

static packet *get(fifo *queue) {
    packet *p = queue->slot[queue->head];
    queue->head = (queue->head + 1) % QUEUE;
    queue->count--;
    return p;
}

static packet *first(fifo *queue) { return queue->count ? queue->slot[queue->head] : NULL; }

static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to) {
    packet *out = calloc(1, sizeof *out);
    (void)to;
    if (!out || p->tot_len > sizeof out->bytes) die("a packet is too long");
    out->len = p->tot_len;
    out->at = now;
    pbuf_copy_partial(p, out->bytes, p->tot_len, 0);
    put(&sending[netif == &netifs[APPLIANCE]], out);
    return ERR_OK;
}

static err_t start_netif(struct netif *netif) {
    netif->output = output;
    netif->name[0] = 'n';
    netif->name[1] = 'f';
    return ERR_OK;
}

static char answer[1600];

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err) {
    (void)arg; (void)err;
    if (!p) { /* the other end has closed: close too, with the same packet that acknowledges it */
        server = NULL;
        tcp_close(pcb);
        return ERR_OK;
    }
    delivered += p->tot_len;
    tcp_recved(pcb, p->tot_len);
    if (turns && tcp_write(pcb, answer, p->tot_len, TCP_WRITE_FLAG_COPY) != ERR_OK) die("tcp_write failed");
    pbuf_free(p);
    if (quick && !turns) tcp_set_flags(pcb, TF_ACK_NOW); /* in an exchange the answer carries the acknowledgement */
    return ERR_OK;
}

/* Of an exchange: the answer is there. */
static err_t on_answer(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err) {
    (void)arg; (void)err;
    if (!p) return ERR_OK;
    received += p->tot_len;
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err) {
    (void)arg; (void)err;
    server = pcb;
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, on_receive);
    return ERR_OK;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err) {
    (void)arg; (void)err;
    pcb->cwnd = (tcpwnd_size_t)window;
    connected = 1;
    return ERR_OK;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t len) {
    (void)arg; (void)pcb;
    acknowledged += len;
    if (acknowledged == size && !turns) close_now = 1;
    return ERR_OK;
}

static void on_error(void *arg, err_t err) { (void)arg; (void)err; failed = 1; client = NULL; }

/* What the application does between packets: keep the send buffer full, close when all has been acknowledged. */
static void application(void) {
    static char block[65536];
    if (!connected || !client) return;
    if (rto_ticks) client->rto = (s16_t)rto_ticks; /* an adapted timeout in place of lwIP's own estimate */
    if (rto_ticks && server) server->rto = (s16_t)rto_ticks; /* which also rules how long it keeps what is out of order */
    if (client->cwnd > window_limit) client->cwnd = (tcpwnd_size_t)window_limit;
    long room = send_buffer - (written - acknowledged);
    long more = size - written < room ? size - written : room;
    if (turns) { /* one packet, and the next when it has been answered */
        more = received == written && written < size ? (long)mss : 0;
        close_now = received == size;
    }
    if (more > 0) {
        if (tcp_write(client, block, (u16_t)more, TCP_WRITE_FLAG_COPY) != ERR_OK) die("tcp_write failed");
        written += more;
        tcp_output(client);
    }
    if (close_now && !closed) {
        closed = 1;
        tcp_close(client);
    }
}

/* Whether the first transmission of a segment is to be lost: its number stands between commas in the list. */
static int named(uint32_t segment) {
    char word[16];
    snprintf(word, sizeof word, ",%u,", segment);
    return strstr(lost_segments, word) != NULL;
}

static void count(const packet *p) {
    int header = 4 * (p->bytes[0] & 15), tcp = 4 * (p->bytes[header + 12] >> 4);
    const uint8_t *s = p->bytes + header + 4;
    uint32_t sequence = (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
    on_air_lost = 0;
    int hit = spoiled(8.0 * p->len);
    if (p->len == header + tcp) {
        acks_sent += on_air == APPLIANCE;
        on_air_lost = hit;
        return;
    }
    int repeat = seen[on_air] && (int32_t)(sequence - highest[on_air]) <= 0;
    if (!data_sent) first_sequence = sequence;
    if (repeat) again++;
    else highest[on_air] = sequence;
    seen[on_air]++;
    data_sent++;
    if (hit || (every && data_sent % every == 0) || (!repeat && named((sequence - first_sequence) / mss))) {
        on_air_lost = 1;
        data_lost++;
    }
}

static void arrived(void) {
    int to = !on_air;
    packet *p = crossing;
    on_air = -1;
    if (on_air_lost && flip < 0) { free(p); return; }
    if (on_air_lost && flip < 8 * p->len) p->bytes[flip / 8] ^= (uint8_t)(128 >> flip % 8);
    int64_t begin = now;
    if (to == APPLIANCE) { /* a single buffer: an answer that waits goes out before the next packet is read */
        packet *answer = first(&sending[APPLIANCE]);
        if (answer && answer->at <= now) begin = now + (answer->len + framing + payload - 1) / payload * slot_us;
        if (begin < quiet_at) begin = quiet_at;
    }
    p->at = begin + latency[to];
    put(&arriving[to], p);
}

static void take_turn(void) {
    if (on_air >= 0) return;
    packet *up = first(&sending[DEVICE]), *down = first(&sending[APPLIANCE]);
    if (!up && !down) return;
    if (now % slot_us) return;
    on_air = up && (!down || last_direction == APPLIANCE) ? DEVICE : APPLIANCE;
    last_direction = on_air;
    crossing = get(&sending[on_air]);
    int64_t length = (crossing->len + framing + payload - 1) / payload * slot_us;
    busy_until = now + length;
    air += length;
    if (on_air == APPLIANCE) quiet_at = busy_until;
    count(crossing);
}

int main(int argc, char **argv) {
    if (argc != 21)
        die("usage: size mss window limit latency delay slot payload framing phase quick every buffer rto seed lost "
            "turns flip to_bad to_good");
    size = atol(argv[1]);
    long phase = atol(argv[10]);
    mss = (uint32_t)atol(argv[2]);
    lost_segments = argv[16];
    window = atol(argv[3]);
    window_limit = atol(argv[4]);
    latency[APPLIANCE] = atol(argv[5]);
    latency[DEVICE] = atol(argv[5]) + atol(argv[6]);
    slot_us = atol(argv[7]);
    payload = atol(argv[8]);
    framing = atol(argv[9]);
    quick = atoi(argv[11]);
    every = atol(argv[12]);
    send_buffer = atol(argv[13]);
    rto_ticks = atoi(argv[14]) / 500;
    srand((unsigned)atoi(argv[15]));
    state = (uint64_t)atoi(argv[15]);
    turns = atol(argv[17]);
    flip = atoi(argv[18]);
    to_bad = atof(argv[19]);
    to_good = atof(argv[20]);
    bad = to_good > 0 && uniform() < to_bad / (to_bad + to_good);

    ip4_addr_t address[2], mask;
    lwip_init();
    IP4_ADDR(&mask, 255, 255, 255, 0);
    for (int i = 0; i < 2; i++) {
        IP4_ADDR(&address[i], 10, 0, i, 1);
        netif_add(&netifs[i], &address[i], &mask, NULL, NULL, start_netif, ip_input);
        netifs[i].mtu = (u16_t)(mss + 40);
        netif_set_up(&netifs[i]);
        netif_set_link_up(&netifs[i]);
    }
    struct tcp_pcb *listener = tcp_new();
    tcp_bind_netif(listener, &netifs[APPLIANCE]);
    tcp_bind(listener, IP_ADDR_ANY, PORT);
    listener = tcp_listen(listener);
    tcp_accept(listener, on_accept);
    client = tcp_new();
    tcp_bind_netif(client, &netifs[DEVICE]);
    tcp_nagle_disable(client);
    tcp_sent(client, on_sent);
    tcp_recv(client, turns ? on_answer : NULL);
    tcp_err(client, on_error);
    ip_addr_t to;
    ip_addr_copy_from_ip4(to, address[APPLIANCE]);
    if (tcp_connect(client, &to, PORT, on_connected) != ERR_OK) die("tcp_connect failed");

    int64_t tick = phase, end = 0;
    while (!failed && now < PATIENCE_US) {
        if (on_air >= 0 && busy_until == now) { end = now; arrived(); }
        for (int i = 0; i < 2; i++)
            while (first(&arriving[i]) && first(&arriving[i])->at <= now) {
                packet *p = get(&arriving[i]);
                struct pbuf *in = pbuf_alloc(PBUF_RAW, (u16_t)p->len, PBUF_RAM);
                pbuf_take(in, p->bytes, (u16_t)p->len);
                free(p);
                netifs[i].input(in, &netifs[i]);
                application();
            }
        if (now >= tick) { tcp_tmr(); tick += TMR_US; application(); }
        take_turn();
        if (closed && on_air < 0 && !sending[0].count && !sending[1].count && !arriving[0].count
            && !arriving[1].count && client->state == TIME_WAIT) break;
        int64_t next = tick;
        if (on_air >= 0) next = busy_until < next ? busy_until : next;
        else if (sending[0].count || sending[1].count) {
            int64_t boundary = (now / slot_us + 1) * slot_us;
            next = boundary < next ? boundary : next;
        }
        for (int i = 0; i < 2; i++)
            if (first(&arriving[i]) && first(&arriving[i])->at < next) next = first(&arriving[i])->at;
        now = next;
    }
    printf("%lld %ld %ld %ld %ld %ld %ld %d\n", (long long)end, delivered, data_sent, data_lost, again, acks_sent,
           air, failed || now >= PATIENCE_US);
    return 0;
}
