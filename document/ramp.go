package document

import (
	"time"

	"github.com/guidonhq/guidon"
)

func (d *decoder) ramp(to **guidon.Ramp) func(n *node) {
	return func(n *node) {
		if n.kind == null {
			return
		}
		r := &guidon.Ramp{}
		*to = r
		d.object(n, fields{
			"start": d.instant(&r.Start), "from": d.float(&r.Initial), "over": d.duration(&r.Over),
			"paused": d.instant(&r.Paused), "reversed": d.instant(&r.Reversed), "delay": d.duration(&r.Delay),
			"steps": d.list(func(n *node) {
				var s guidon.RampStep
				d.object(n, fields{"percentage": d.float(&s.Percentage), "for": d.duration(&s.For)})
				r.Steps = append(r.Steps, s)
			}),
			"confirm": func(n *node) {
				if n.kind != null {
					r.Confirm = &guidon.RampConfirm{}
					d.object(n, fields{
						"every": d.duration(&r.Confirm.Every), "lapse": d.enum(&r.Confirm.Lapse), "last": d.instant(&r.Confirm.Last),
					})
				}
			},
		})
	}
}

func (e *encoder) addRamp(n *node, r *guidon.Ramp) {
	if r == nil {
		return
	}
	ramp := &node{kind: object}
	addInstant(ramp, "start", r.Start)
	if r.Initial != 0 {
		ramp.add("from", e.floatNode(r.Initial))
	}
	addDuration(ramp, "over", r.Over)
	addList(ramp, "steps", r.Steps, func(s guidon.RampStep) *node {
		step := &node{kind: object}
		step.add("percentage", e.floatNode(s.Percentage))
		addDuration(step, "for", s.For)
		return step
	})
	addInstant(ramp, "paused", r.Paused)
	addInstant(ramp, "reversed", r.Reversed)
	addDuration(ramp, "delay", r.Delay)
	if c := r.Confirm; c != nil {
		confirm := &node{kind: object}
		addDuration(confirm, "every", c.Every)
		if c.Lapse != guidon.HoldRamp {
			confirm.add("lapse", textNode(c.Lapse.String()))
		}
		addInstant(confirm, "last", c.Last)
		ramp.add("confirm", confirm)
	}
	n.add("ramp", ramp)
}

func addDuration(n *node, name string, d time.Duration) {
	if d != 0 {
		n.add(name, textNode(guidon.DurationText(d)))
	}
}
