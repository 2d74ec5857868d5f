package analysis

// blame finds out why step k cannot decide the result, or why some step always matches if k
// is the number of steps.
func (s *search) blame(o *Obstacle, k int) {
	if s.hashes {
		s.undecided(o)
		return
	}
	if k < len(s.steps) {
		alone := goal{match: k}
		if s.run(alone).verdict == Impossible {
			s.blameSegments(o, alone)
			return
		}
	}
	for i := range k {
		if s.run(goal{i, i + 1, k}).verdict == Impossible {
			o.Reason, o.By = EarlierStep, i
			return
		}
	}
	for i := range k {
		if s.run(goal{0, i + 1, k}).verdict == Impossible {
			o.Reason, o.By = EarlierSteps, i
			return
		}
	}
	s.undecided(o)
}

func (s *search) undecided(o *Obstacle) {
	if o.Reason = NotDecided; s.limited {
		o.Reason = WorkLimit
	}
}

// blameSegments finds out why the step does not match even if it is the only one.
func (s *search) blameSegments(o *Obstacle, alone goal) {
	o.Reason = Contradiction
	o.SegmentKey, o.Property = s.contradiction(&s.steps[alone.match])
	s.freeEntity(true)
	switch found := s.run(alone); {
	case s.limited:
		s.undecided(o)
	case found.verdict != Impossible: // it may be that no entity id is enough, but this one is not
		o.Reason, o.Property = OtherEntity, ""
	}
	s.freeEntity(false)
}

// freeEntity determines whether the entity may be another one.
func (s *search) freeEntity(free bool) {
	s.entityFree = free
	for i := range s.properties {
		if s.properties[i].subject.entity {
			s.properties[i].built = false
		}
	}
}

// contradiction returns the first segment of the step that nothing satisfies, and the property
// that cannot have any value then. It returns "" for both if each segment can be satisfied.
func (s *search) contradiction(step *searchStep) (segment, property string) {
	for _, set := range step.sets {
		for _, g := range set.segments {
			if g.any {
				if s.allImpossible(g) {
					return g.key, ""
				}
				continue
			}
			if name, impossible := s.impossible(g); impossible {
				return g.key, name
			}
		}
	}
	return "", ""
}

// impossible returns the first property that no value satisfies all constraints of the segment.
func (s *search) impossible(g *searchSegment) (property string, impossible bool) {
	s.apply(-1, 0)
	for _, f := range g.facts {
		s.require(f, true)
	}
	for _, i := range s.touched {
		if _, ok := s.choose(&s.properties[i], 0); !ok {
			return s.properties[i].subject.name(), !s.limited
		}
	}
	return "", false
}

// allImpossible reports whether no value satisfies any constraint of the segment.
func (s *search) allImpossible(g *searchSegment) bool {
	for _, f := range g.facts {
		s.apply(-1, 0)
		s.require(f, true)
		if _, ok := s.choose(&s.properties[s.facts[f].property], 0); ok {
			return false
		}
	}
	return !s.limited
}
