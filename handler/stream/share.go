package stream

// Slot is the slot of one open stream. [Hub.Open] returns it and [Hub.Close] frees it.
type Slot struct {
	kind      Kind
	owner     string
	displaced chan struct{} // closed when the slot is given to another token
}

// shares distributes the slots for one kind of stream among tokens. One token may
// have all of them. If none is free, a token can take a slot from one that has more. It
// is guarded by [Hub].
type shares struct {
	open   int
	owners map[string]map[*Slot]struct{}
	counts map[int]int // from a number of streams to how many owners have that many
	most   int         // the most streams of any owner
}

// canAdd reports whether the owner may open one more stream.
func (s *shares) canAdd(owner string, limit int) bool {
	return s.open < limit || s.displaces(owner)
}

// displaces reports whether the owner may take a slot from the owner with the most. It
// must not have more streams than that one afterwards.
func (s *shares) displaces(owner string) bool { return len(s.owners[owner])+1 < s.most }

// add adds a stream, and displaces another one if the limit is reached. It reports
// whether there was a slot.
func (s *shares) add(slot *Slot, limit int) bool {
	if s.open >= limit {
		if !s.displaces(slot.owner) {
			return false
		}
		s.displace()
	}
	slots := s.owners[slot.owner]
	if slots == nil {
		slots = map[*Slot]struct{}{}
		s.owners[slot.owner] = slots
	}
	slots[slot] = struct{}{}
	s.open++
	s.recount(len(slots)-1, len(slots))
	s.most = max(s.most, len(slots))
	return true
}

// displace ends a stream of an owner with the most streams.
func (s *shares) displace() {
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

// remove frees the slot, unless it has been displaced.
func (s *shares) remove(slot *Slot) {
	slots := s.owners[slot.owner]
	if _, ok := slots[slot]; !ok {
		return
	}
	delete(slots, slot)
	s.open--
	s.recount(len(slots)+1, len(slots))
	if s.counts[s.most] == 0 {
		s.most-- // this owner had the most, and now has one less
	}
	if len(slots) == 0 {
		delete(s.owners, slot.owner)
	}
}

// recount records that the number of streams of an owner has changed.
func (s *shares) recount(from, to int) {
	if s.counts[from]--; s.counts[from] <= 0 {
		delete(s.counts, from)
	}
	if to > 0 {
		s.counts[to]++
	}
}
