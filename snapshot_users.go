package guidon

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
