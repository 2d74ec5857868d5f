package count

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// TestCounter: evaluations are counted by answer and reason until they are taken.
func TestCounter(t *testing.T) {
	price := flagtest.VariantFlag("price", flagtest.Rule(flagtest.Shares{100}, "everyone")) // A
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{}, []*guidon.Flag{
		price, flagtest.VariantFlag("empty"), flagtest.Disabled(flagtest.WithDefault(flagtest.VariantFlag("off"), "B")),
		flagtest.BooleanFlag("dark", true), flagtest.BooleanFlag("wide", false, flagtest.Threshold(100, true)),
	}, []*guidon.Segment{flagtest.Everyone()})
	c := NewCounter(nil, Keep{}, nil)
	count := func(key string) {
		f := s.Compiled(key)
		if f.Kind() == guidon.BooleanFlag {
			r, err := f.Boolean("u", nil)
			c.Boolean("shop", f, &r, err)
			return
		}
		r, err := f.Variant("u", nil)
		c.Variant("shop", f, &r, err)
	}
	for _, key := range []string{"price", "price", "empty", "off", "dark", "wide"} {
		count(key)
	}
	wrong, err := s.Compiled("dark").Variant("u", nil)
	c.Variant("shop", s.Compiled("dark"), &wrong, err)
	c.Variant("shop", nil, &wrong, err) // no such flag
	c.Namespace("shop", Bulk)
	c.Namespace("other", Download)
	want := ByNamespace{
		"shop": {
			"price": {"A match": 2}, "empty": {"none unknown": 1}, "off": {"B flag_disabled": 1},
			"dark": {"true default": 1, "error unknown": 1}, "wide": {"true match": 1}, "*": {"bulk": 1},
		},
		"other": {"*": {"download": 1}},
	}
	if diff := cmp.Diff(want, c.take()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 6 { // it is forgotten, and counted again
		if got := c.take(); len(got) != 0 {
			t.Errorf("take %d: got %v, want nothing", i, got)
		}
		if i == 3 {
			count("dark")
			if diff := cmp.Diff(ByNamespace{"shop": {"dark": {"true default": 1}}}, c.take()); diff != "" {
				t.Errorf("again (-want +got):\n%s", diff)
			}
		}
	}
	var none *Counter
	none.Boolean("shop", s.Compiled("dark"), &guidon.BooleanResult{}, nil)
	none.Namespace("shop", Bulk)
}

// TestCounterLosesNothing: what is counted while counts are taken, and flags are forgotten, is in one of them.
func TestCounterLosesNothing(t *testing.T) {
	s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", true))
	c, f := &Counter{}, s.Compiled("f")
	const each, counters = 20_000, 4
	ctx, stop := context.WithCancel(t.Context())
	total, taken := uint64(0), make(chan struct{})
	go func() {
		defer close(taken)
		for ctx.Err() == nil {
			total += c.take()["n"]["f"]["true default"]
		}
	}()
	var all sync.WaitGroup
	for range counters {
		all.Go(func() {
			r := guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonDefault}
			for i := range each {
				c.Boolean("n", f, &r, nil)
				for counter := flagCounters.Of(f); i%1000 == 0 && counter.listed.Load(); {
					runtime.Gosched() // until it is forgotten
				}
			}
		})
	}
	all.Wait()
	stop()
	<-taken
	if total += c.take()["n"]["f"]["true default"]; total != each*counters {
		t.Errorf("got %d, want %d", total, each*counters)
	}
}

func BenchmarkCounter(b *testing.B) {
	for _, variants := range []int{0, 4, 100} {
		b.Run(fmt.Sprint("variants=", variants), func(b *testing.B) {
			f := flagtest.BooleanFlag("f", true)
			if variants > 0 {
				f = flagtest.VariantFlag("f")
				f.Variants = nil
				for i := range variants {
					f.Variants = append(f.Variants, &guidon.Variant{ID: fmt.Sprint(i), Key: fmt.Sprint("variant-", i)})
				}
				f.DefaultVariantID = fmt.Sprint(variants - 1)
			}
			compiled, c := flagtest.SnapshotOf(f).Compiled("f"), &Counter{}
			boolean := guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonDefault}
			variant, _ := compiled.Variant("u", nil)
			for b.Loop() {
				if variants == 0 {
					c.Boolean("n", compiled, &boolean, nil)
				} else {
					c.Variant("n", compiled, &variant, nil)
				}
			}
		})
	}
}
