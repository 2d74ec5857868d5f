package guidon

// SegmentUse lists the references to a segment in one flag.
type SegmentUse struct {
	Flag     *Flag
	Rules    []int // indexes in the flag, ascending; without any if the flag is Unreadable
	Rollouts []int
}

// users has the flags that refer to each segment.
var users = NewFlagsDerivation(userIndex{newShards[Sorted[*Flag]](0).shards}, userIndex.update)

// userIndex finds flags by the keys of the segments that they refer to.
type userIndex struct{ shards[Sorted[*Flag]] }

// SegmentUsers returns the flags that refer to the segment, which need not exist, in
// creation order.
func (s *Snapshot) SegmentUsers(key string) Sorted[*Flag] { return users.Of(s).of(key) }

func (x userIndex) of(segmentKey string) Sorted[*Flag] {
	if flags := x.get(segmentKey); flags != nil {
		return *flags
	}
	return NewSorted(compareFlags, nil)
}

func (x userIndex) update(changes []FlagChange) userIndex {
	removed, added := map[string][]*Flag{}, map[string][]*Flag{}
	touched := map[string]bool{}
	add := func(f *CompiledFlag, to map[string][]*Flag) {
		if f == nil {
			return
		}
		for key := range f.flag.SegmentKeys() {
			touched[key] = true
			if n := len(to[key]); n == 0 || to[key][n-1] != f.flag {
				to[key] = append(to[key], f.flag)
			}
		}
	}
	for _, c := range changes {
		if c.Before == nil || c.After == nil || c.Before.flag != c.After.flag {
			add(c.Before, removed)
			add(c.After, added)
		}
	}
	e := x.edit(len(touched))
	for key := range touched {
		flags := x.of(key).With(removed[key], added[key])
		if flags.Len() > 0 {
			e.set(key, &flags)
		} else {
			e.set(key, nil)
		}
	}
	return userIndex{e.shards}
}

// SegmentUses returns the references to each segment by its key, in the order of the flags.
func SegmentUses(flags []*Flag) map[string][]SegmentUse {
	all := map[string][]SegmentUse{}
	// use returns the use of the segment in the flag, which is the last one that it has.
	use := func(key string, f *Flag) *SegmentUse {
		if n := len(all[key]); n == 0 || all[key][n-1].Flag != f {
			all[key] = append(all[key], SegmentUse{Flag: f})
		}
		return &all[key][len(all[key])-1]
	}
	for _, f := range flags {
		if f.Unreadable != nil {
			for key := range f.SegmentKeys() {
				use(key, f)
			}
		}
		for i, r := range f.Rules {
			for _, key := range r.SegmentKeys {
				u := use(key, f)
				u.Rules = appendOnce(u.Rules, i)
			}
		}
		for i, r := range f.Rollouts {
			if r.Segment == nil {
				continue
			}
			for _, key := range r.Segment.SegmentKeys {
				u := use(key, f)
				u.Rollouts = appendOnce(u.Rollouts, i)
			}
		}
	}
	return all
}

// appendOnce appends the index unless it is the last one.
func appendOnce(list []int, index int) []int {
	if n := len(list); n > 0 && list[n-1] == index {
		return list
	}
	return append(list, index)
}
