package failures

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// TestTable checks the table against buckets of which none is forgotten, with more
// addresses than it remembers. It must remember no more addresses than it may, in order,
// and no address may be limited that need not be.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const addresses = MaxAddresses + MaxAddresses/2
	table, all := newTable(rateOf(1)), make(map[netip.Addr]time.Time)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 20 * addresses {
		now = now.Add(time.Duration(random.IntN(int(100 * time.Microsecond))))
		n := random.IntN(addresses)
		if random.IntN(4) == 0 {
			n %= 100 // these fail far more often
		}
		a := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		full, want := table.rate.take(all[a], now)
		switch got := table.take(a, now); {
		case got:
			all[a] = full
		case want:
			t.Fatalf("%v is limited, but has not failed too often", a)
		}
	}
	if len(table.order) != MaxAddresses || len(table.byAddress) != MaxAddresses {
		t.Errorf("%d buckets of %d addresses, want %d of both", len(table.order), len(table.byAddress), MaxAddresses)
	}
	for i, b := range table.order {
		if b.place != i || table.byAddress[b.address] != b {
			t.Fatalf("bucket %d of %v has the place %d", i, b.address, b.place)
		}
		if parent := table.order[max(0, (i-1)/2)]; b.full.Before(parent.full) {
			t.Fatalf("bucket %d is full before the one above it", i)
		}
	}
}

// TestTableForgets: the table does not grow by addresses whose buckets are full again.
func TestTableForgets(t *testing.T) {
	table := newTable(rateOf(10))
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range MaxAddresses {
		now = now.Add(10 * time.Millisecond)
		table.take(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), now)
	}
	if got := len(table.order); got > 11 {
		t.Errorf("%d addresses are remembered, want those of the last 100 ms", got)
	}
}
