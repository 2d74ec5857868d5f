package limit_test

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/limit"
)

// clock is a clock that stands still until it is moved.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func newLimiter(c *clock, config limit.FailureConfig) *limit.Failures {
	config.Now = c.now
	return limit.NewFailures(config)
}

// from returns a caller elsewhere.
func from(text string) limit.Caller { return limit.Caller{Address: netip.MustParseAddr(text)} }

// fails returns how many of n failures of the caller are within the limits.
func fails(l *limit.Failures, caller limit.Caller, n int) (within int) {
	for range n {
		if !l.Fail(caller) {
			within++
		}
	}
	return within
}

// check compares a number of failures within the limits.
func check(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d failures are within the limits, want %d", what, got, want)
	}
}

// TestPerAddress: an address may fail as often as in ten seconds together, and then at
// its rate. Being limited does not make that later.
func TestPerAddress(t *testing.T) {
	for _, rate := range []int{1, 3, 7, 10, 1000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			c := newClock()
			l := newLimiter(c, limit.FailureConfig{PerAddress: rate})
			check(t, "at first", fails(l, from("192.0.2.1"), 20*rate), 10*rate)
			check(t, "another address", fails(l, from("192.0.2.2"), 10*rate), 10*rate)
			c.pass(time.Second)
			check(t, "a second later", fails(l, from("192.0.2.1"), 20*rate), rate)
			c.pass(time.Second / time.Duration(rate))
			check(t, "one failure's time later", fails(l, from("192.0.2.1"), 20*rate), 1)
			c.pass(time.Hour)
			check(t, "an hour later", fails(l, from("192.0.2.1"), 20*rate), 10*rate)
			if diff := cmp.Diff(limit.FailureStats{Denied: uint64(31*rate + 1), Limited: uint64(10*rate + 19*rate + 20*rate - 1 + 10*rate)}, l.Stats()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTotal: all addresses together are limited. What is beyond a limit is not taken out
// of the other bucket.
func TestTotal(t *testing.T) {
	c := newClock()
	l := newLimiter(c, limit.FailureConfig{PerAddress: 2, Total: 5})
	check(t, "the first address", fails(l, from("192.0.2.1"), 100), 20)
	check(t, "the second", fails(l, from("192.0.2.2"), 100), 20)
	check(t, "the third, of what is left", fails(l, from("192.0.2.3"), 100), 10)
	check(t, "the fourth", fails(l, from("192.0.2.4"), 100), 0)
	c.pass(time.Second)
	check(t, "the fourth, a second later", fails(l, from("192.0.2.4"), 100), 5)
	c.pass(5 * time.Second)
	check(t, "the third, which was refused by the total", fails(l, from("192.0.2.3"), 100), 20)
}

// TestNoLimit: 0 means that there is no limit.
func TestNoLimit(t *testing.T) {
	c := newClock()
	check(t, "no limits", fails(newLimiter(c, limit.FailureConfig{}), from("192.0.2.1"), 5000), 5000)
	check(t, "none in total", fails(newLimiter(c, limit.FailureConfig{PerAddress: 1}), from("192.0.2.1"), 5000), 10)
	l := newLimiter(c, limit.FailureConfig{Total: 1})
	check(t, "none for each address", fails(l, from("192.0.2.1"), 5000), 10)
	check(t, "the total", fails(l, from("192.0.2.2"), 5000), 0)
}

// TestGroups: IPv6 addresses of one /64 count as one, IPv4 addresses do not, and callers
// whose address is not known do.
func TestGroups(t *testing.T) {
	for _, test := range []struct {
		a, b limit.Caller
		one  bool
	}{
		{from("2001:db8:0:1::1"), from("2001:db8:0:1:ffff:ffff:ffff:ffff"), true},
		{from("2001:db8:0:1::1"), from("2001:db8:0:2::1"), false},
		{from("2001:db8:0:1:8000::"), from("2001:db8:0:1::"), true},
		{from("192.0.2.1"), from("192.0.2.2"), false},
		{from("0.0.0.0"), from("::"), false},
		{limit.Caller{}, limit.Caller{}, true},
		{limit.Caller{}, from("::"), false},
		{limit.Caller{}, from("0.0.0.0"), false},
	} {
		l := newLimiter(newClock(), limit.FailureConfig{PerAddress: 1})
		fails(l, test.a, 10)
		if got := fails(l, test.b, 1) == 0; got != test.one {
			t.Errorf("%v and %v count as one: %t, want %t", test.a.Address, test.b.Address, got, test.one)
		}
	}
}

// TestLoopback: callers on this machine are not limited unless that is configured, and
// take nothing from others. A proxy elsewhere can make no caller one of them.
func TestLoopback(t *testing.T) {
	local := limit.Caller{Address: netip.MustParseAddr("127.0.0.1"), Local: true}
	claimed := limit.Caller{Address: netip.MustParseAddr("127.0.0.1")}
	l := newLimiter(newClock(), limit.FailureConfig{PerAddress: 1, Total: 1})
	check(t, "on this machine", fails(l, local, 100), 100)
	check(t, "elsewhere, as a proxy says", fails(l, claimed, 100), 10)
	l = newLimiter(newClock(), limit.FailureConfig{PerAddress: 1, Total: 1, Loopback: true})
	check(t, "on this machine, with loopback", fails(l, local, 100), 10)
}

// TestFlood: failures from many other addresses do not refill an empty bucket.
func TestFlood(t *testing.T) {
	c := newClock()
	l := newLimiter(c, limit.FailureConfig{PerAddress: 10})
	check(t, "at first", fails(l, from("192.0.2.1"), 200), 100)
	for i := range 5 * limit.MaxKeys {
		other := limit.Caller{Address: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})}
		if within := fails(l, other, 3); within != 3 {
			t.Fatalf("%v: %d failures are within the limits, want 3", other.Address, within)
		}
		if i%1000 == 0 {
			check(t, "meanwhile", fails(l, from("192.0.2.1"), 1), 0)
		}
	}
	check(t, "afterwards", fails(l, from("192.0.2.1"), 200), 0)
	c.pass(time.Second)
	check(t, "a second later", fails(l, from("192.0.2.1"), 200), 10)
}

// TestConcurrent: failures that happen at the same time are counted once each.
func TestConcurrent(t *testing.T) {
	l := newLimiter(newClock(), limit.FailureConfig{PerAddress: 10, Total: 15})
	var within atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { within.Add(int64(fails(l, from(fmt.Sprintf("192.0.2.%d", i%2)), 50))) })
	}
	group.Wait()
	check(t, "two addresses", int(within.Load()), 150)
	if diff := cmp.Diff(limit.FailureStats{Denied: 150, Limited: 250}, l.Stats()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
