package handler

// streamSlot is the place of one open stream.
type streamSlot struct {
	kind      streamKind
	owner     string
	displaced chan struct{} // closed when the place is given to a stream of another token
}

// streamShares shares the places for one kind of stream among tokens. One token may
// take all of them; when they are taken, a token that has fewer than another gets one
// of that one's. It is guarded by [Streams].
type streamShares struct {
	open   int
	owners map[string]map[*streamSlot]struct{}
	counts map[int]int // how many owners have so many streams
	most   int         // that any owner has
}

func newStreamShares() streamShares {
	return streamShares{owners: map[string]map[*streamSlot]struct{}{}, counts: map[int]int{}}
}

// canAdd reports whether the owner may open one more stream.
func (s *streamShares) canAdd(owner string, limit int) bool {
	return s.open < limit || s.displaces(owner)
}

// displaces reports whether the owner would still not have more streams than the owner
// of the most, if it got one of that one's.
func (s *streamShares) displaces(owner string) bool { return len(s.owners[owner])+1 < s.most }

// add adds a stream, at the cost of another one if the limit is reached. It returns
// false if there is no place for it.
func (s *streamShares) add(slot *streamSlot, limit int) bool {
	if s.open >= limit {
		if !s.displaces(slot.owner) {
			return false
		}
		s.displace()
	}
	slots := s.owners[slot.owner]
	if slots == nil {
		slots = map[*streamSlot]struct{}{}
		s.owners[slot.owner] = slots
	}
	slots[slot] = struct{}{}
	s.open++
	s.recount(len(slots)-1, len(slots))
	s.most = max(s.most, len(slots))
	return true
}

// displace ends a stream of an owner that has the most.
func (s *streamShares) displace() {
	for _, slots := range s.owners {
		if len(slots) < s.most {
			continue
		}
		for slot := range slots {
			s.remove(slot)
			close(slot.displaced)
			return
		}
	}
}

// remove removes a stream, unless it has been displaced.
func (s *streamShares) remove(slot *streamSlot) {
	slots := s.owners[slot.owner]
	if _, ok := slots[slot]; !ok {
		return
	}
	delete(slots, slot)
	s.open--
	s.recount(len(slots)+1, len(slots))
	if s.counts[s.most] == 0 {
		s.most-- // to what this owner has now
	}
	if len(slots) == 0 {
		delete(s.owners, slot.owner)
	}
}

// moved notes that an owner has another number of streams.
func (s *streamShares) recount(from, to int) {
	if s.counts[from]--; s.counts[from] <= 0 {
		delete(s.counts, from)
	}
	if to > 0 {
		s.counts[to]++
	}
}
