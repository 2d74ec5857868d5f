package flag

// switchQuestion returns the heading of the page that asks before a flag is turned off or on.
func (q *question) switchQuestion() string {
	switch {
	case q.verb == verbOff:
		return "Turn off “" + q.name() + "” for everyone?"
	case q.verb == verbOnEveryone && q.boolean():
		return "Turn on “" + q.name() + "” for everyone?"
	}
	return "Turn on “" + q.name() + "”?"
}

// switchText describes the effect of the answer on the flag.
func (q *question) switchText() string {
	boolean := q.boolean()
	switch {
	case q.verb == verbOff && boolean:
		return "This adds a first rule that gives Off to everyone, so that no other rule is reached. The other rules stay as they are: Turn on removes this one again."
	case q.verb == verbOff:
		return "Everyone gets " + newDraft(q.flag).outcomeName(defaultVariant(q.flag)) +
			", whatever the rules say. The rules stay as they are: with Turn on, they decide again."
	case q.verb == verbOn && boolean:
		return "This removes the rule that turns it off for everyone. All other rules are as they were."
	case q.verb == verbOn:
		return "The rules decide again, as before it was turned off."
	case boolean:
		return "It has not been turned off, so there is nothing to restore. This gives On to everyone whom no rule matches."
	}
	return "It has not been turned off, so there is nothing to restore. Its rules will decide who gets which variant."
}

// switchButton returns the text of the button.
func (q *question) switchButton() string {
	if q.verb == verbOnEveryone && q.boolean() {
		return "Turn on for everyone"
	}
	return q.state.Switch()
}
