package analysis

import (
	"context"
	"slices"
	"unique"
)

// The functions of this file are sound and not complete: they return true only if it is
// certain, and false if it is not known.

// maxCompared limits how many constraints about one subject are compared with each other.
const maxCompared = 64

// spend takes units of work, see [satisfy]. It returns false if there are not enough, or if
// the analysis must stop.
func (p *predicates) spend(units int) bool {
	p.work -= units
	return p.work >= 0 && !p.stop.after(units)
}

// impossible reports whether nothing meets the demands, which are about the same subject.
func (p *predicates) impossible(list []demand) bool {
	if len(list) == 2 {
		return p.impossiblePair(list)
	}
	_, possible := satisfy(list, p.spend)
	return possible == no
}

// pair are the contents of two demands.
type pair struct {
	a, b           unique.Handle[string]
	aMatch, bMatch bool
}

// impossiblePair is impossible for two demands. It remembers the results, because there are
// few different ones in most analyses.
func (p *predicates) impossiblePair(list []demand) bool {
	a, b := &list[0], &list[1]
	key := pair{a.content, b.content, a.match, b.match}
	result, known := p.pairs[key]
	if !known {
		_, possible := satisfy(list, p.spend)
		result = possible == no
		p.pairs[key] = result
	}
	return result
}

// contradictory reports whether no entity meets all the demands.
func (p *predicates) contradictory(list []demand) bool { return len(p.contradiction(list)) > 0 }

// contradiction returns demands about one subject that no entity meets together, or none.
func (p *predicates) contradiction(list []demand) []demand {
	if i := slices.IndexFunc(list, demand.fails); i >= 0 {
		return list[i : i+1]
	}
	for _, about := range bySubject(list) {
		if len(about) <= maxCompared && p.impossible(about) {
			return about
		}
	}
	return nil
}

// conflict returns some of the demands that no entity meets together, or none. None of them
// can be left out.
func (p *predicates) conflict(list []demand) []demand {
	list = p.contradiction(list)
	for i := 0; i < len(list) && len(list) > 1; {
		if rest := slices.Delete(slices.Clone(list), i, i+1); p.impossible(rest) {
			list = rest
		} else {
			i++
		}
	}
	return list
}

// bySubject groups the demands by their subjects, in the order of the first ones. A group
// ends when it has more than maxCompared.
func bySubject(list []demand) [][]demand {
	var groups [][]demand
	for _, d := range list {
		i := slices.IndexFunc(groups, func(g []demand) bool { return sameSubject(g[0].constraint, d.constraint) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		if len(groups[i]) <= maxCompared {
			groups[i] = append(groups[i], d)
		}
	}
	return groups
}

// clash reports whether no entity meets all demands of both lists. Each of the lists by
// itself is not contradictory.
func (p *predicates) clash(a, b []demand) bool {
	if len(a)+len(b) > maxCompared || !p.spend(1+len(a)*len(b)/8) {
		return false
	}
	for i := range a {
		about := func(d demand) bool { return sameSubject(d.constraint, a[i].constraint) }
		if slices.ContainsFunc(a[:i], about) || !slices.ContainsFunc(b, about) {
			continue // done, or nothing to compare with
		}
		together := slices.DeleteFunc(slices.Concat(a[i:], b), func(d demand) bool { return !about(d) })
		if p.impossible(together) {
			return true
		}
	}
	return false
}

// stop ends an analysis when the context of its caller has ended: some flags take more time
// than a request may.
type stop struct {
	ctx   context.Context
	units int // done since the context was checked; stopUnits at the beginning
	err   error
}

// stopUnits is the work between two checks of the context.
const stopUnits = 1000

// after counts work, and reports whether the analysis must stop.
func (s *stop) after(units int) bool {
	if s.units += units; s.units >= stopUnits {
		s.units, s.err = 0, s.ctx.Err()
	}
	return s.err != nil
}
