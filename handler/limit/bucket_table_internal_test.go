package limit

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// TestTable checks the table against buckets of which none is forgotten, with more keys
// than it remembers. It must remember no more keys than it may, and no key may be limited that
// need not be.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const keys = MaxKeys + MaxKeys/2
	table, all := NewBucketTable[netip.Addr](PerSecond(1)), make(map[netip.Addr]time.Time)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 20 * keys {
		now = now.Add(time.Duration(random.IntN(int(100 * time.Microsecond))))
		n := random.IntN(keys)
		if random.IntN(4) == 0 {
			n %= 100 // these are used far more often
		}
		a := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		full, want := table.rate.Take(all[a], now)
		switch got := table.Take(a, now); {
		case got:
			all[a] = full
		case want:
			t.Fatalf("%v is limited, but was not used too often", a)
		}
		if len(table.full) > MaxKeys {
			t.Fatalf("%d keys are remembered, want at most %d", len(table.full), MaxKeys)
		}
	}
}

// TestTableForgets: a table that is full forgets the keys whose buckets are full again.
func TestTableForgets(t *testing.T) {
	table := NewBucketTable[netip.Addr](PerSecond(10))
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range MaxKeys + 1 {
		now = now.Add(10 * time.Millisecond)
		table.Take(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), now)
	}
	if got := len(table.full); got > 11 {
		t.Errorf("%d keys are remembered, want those of the last 100 ms", got)
	}
}
