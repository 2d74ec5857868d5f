package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of requirements.
const (
	MaxRequirements        = 10 // of a flag, or of a rule
	maxAnswers             = 50 // of a requirement
	maxRequiredDepth       = 5
	maxRequiredEvaluations = 50 // evaluations of other flags for one answer
)

// checkRequirements checks requirements by themselves, and returns them in their stored form.
func checkRequirements(stated []guidon.Requirement) ([]guidon.Requirement, error) {
	if len(stated) > MaxRequirements {
		return nil, invalidField("requires", fmt.Sprintf("must not contain more than %d flags", MaxRequirements))
	}
	all := guidon.CloneRequirements(stated)
	for i := range all {
		r, at := &all[i], fmt.Sprintf("requires[%d].", i)
		switch {
		case r.FlagKey == "":
			return nil, emptyField(at + "flag")
		case len(r.Answers) > maxAnswers:
			return nil, invalidField(at+"is", fmt.Sprintf("must not contain more than %d answers", maxAnswers))
		case slices.Contains(r.Answers, ""):
			return nil, invalidField(at+"is", "must not contain an empty text")
		case len(r.Answers) == 0, slices.Equal(r.Answers, []string{"true"}):
			r.Answers = nil
		}
	}
	return all, nil
}

// flagLinks is what requirements are about in one flag.
type flagLinks struct {
	kind     guidon.FlagType
	variants []string // the keys
	requires []guidon.Requirement
}

func linksOf(f *guidon.Flag) *flagLinks {
	variants := lists.Map(f.Variants, func(v *guidon.Variant) string { return v.Key })
	return &flagLinks{kind: f.Type, variants: variants, requires: f.Requirements()}
}

// can reports whether the answer is one of those that the flag can give.
func (l *flagLinks) can(answer string) bool {
	if l.kind == guidon.BooleanFlag {
		return answer == "true" || answer == "false"
	}
	return slices.Contains(l.variants, answer)
}

// lacks reports whether the flag can no longer give all answers that it could.
func (l *flagLinks) lacks(was *flagLinks) bool {
	return l.kind != was.kind || slices.ContainsFunc(was.variants, func(key string) bool { return !l.can(key) })
}

// requiresOthersThan reports whether the flag has other requirements than before; was is nil for a new one.
func (l *flagLinks) requiresOthersThan(was *flagLinks) bool {
	if was == nil {
		return len(l.requires) > 0
	}
	return !slices.EqualFunc(l.requires, was.requires, func(a, b guidon.Requirement) bool {
		return a.FlagKey == b.FlagKey && slices.Equal(a.Answers, b.Answers)
	})
}

// linkTx notes which flags a transaction changes so that requirements may break, to check them at
// the end. That is complete, because the writes of a namespace run one at a time.
type linkTx struct {
	Tx
	namespace string
	touched   map[string]*flagLinks // as they were; nil for created ones
	required  map[string]*flagLinks // as they are at the end

	// The flag that was read last, because that is mostly the one that is put next.
	readKey string
	read    *flagLinks
}

func newLinkTx(tx Tx, namespace string) *linkTx {
	return &linkTx{Tx: tx, namespace: namespace, touched: map[string]*flagLinks{}, required: map[string]*flagLinks{}}
}

// Flag implements [Tx].
func (tx *linkTx) Flag(ctx context.Context, key string) (*guidon.Flag, error) {
	f, err := tx.Tx.Flag(ctx, key)
	if err == nil {
		tx.readKey, tx.read = key, linksOf(f)
	}
	return f, err
}

// PutFlag implements [Tx].
func (tx *linkTx) PutFlag(ctx context.Context, f *guidon.Flag) error {
	was, err := tx.before(ctx, f.Key)
	if err != nil {
		return err
	}
	is := linksOf(f)
	if err := tx.Tx.PutFlag(ctx, f); err != nil {
		return err
	}
	if tx.readKey = ""; is.requiresOthersThan(was) || was != nil && is.lacks(was) {
		tx.touch(f.Key, was)
	}
	return nil
}

// before returns what the flag is before it is put, or nil if it does not exist.
func (tx *linkTx) before(ctx context.Context, key string) (*flagLinks, error) {
	if tx.readKey == key {
		return tx.read, nil
	}
	_, err := tx.Flag(ctx, key)
	if errors.Is(err, guidon.NotFound) {
		return nil, nil
	}
	return tx.read, err
}

// DeleteFlag implements [Tx].
func (tx *linkTx) DeleteFlag(ctx context.Context, key string) error {
	tx.readKey = ""
	tx.touch(key, &flagLinks{}) // what it could answer does not matter
	return tx.Tx.DeleteFlag(ctx, key)
}

// DeleteNamespace implements [Tx].
func (tx *linkTx) DeleteNamespace(ctx context.Context) error {
	clear(tx.touched)
	return tx.Tx.DeleteNamespace(ctx)
}

func (tx *linkTx) touch(key string, was *flagLinks) {
	if _, known := tx.touched[key]; !known {
		tx.touched[key] = was
	}
}

// check returns InvalidArgument if a change leaves a requirement that refers to nothing, or that is
// in a cycle or too deep. Requirements that are as they were, and break for another reason, prevent
// no change.
func (tx *linkTx) check(ctx context.Context) error {
	if len(tx.touched) == 0 {
		return nil
	}
	flags, err := tx.LinkedFlags(ctx)
	if err != nil {
		return err
	}
	linked := make(requirements, len(flags))
	for _, f := range flags {
		linked[f.Key] = f.Requirements()
		for i := range linked[f.Key] {
			if err := tx.checkReference(ctx, f.Key, &linked[f.Key][i]); err != nil {
				return err
			}
		}
	}
	for _, f := range flags {
		if !linked.leadTo(tx.touched, f.Key, map[string]bool{}) {
			continue
		}
		if err := linked.check([]string{f.Key}, new(int)); err != nil {
			return err
		}
	}
	return nil
}

// leadTo reports whether the flag with the key, or one that it requires, is one of the touched.
func (all requirements) leadTo(touched map[string]*flagLinks, key string, seen map[string]bool) bool {
	if _, is := touched[key]; is || seen[key] {
		return is
	}
	seen[key] = true
	return slices.ContainsFunc(all[key], func(r guidon.Requirement) bool { return all.leadTo(touched, r.FlagKey, seen) })
}

// same reports whether the requirement of the flag with the key is as it was, and whether all that
// the required flag could answer then is still possible.
func (tx *linkTx) same(key string, r *guidon.Requirement) bool {
	if _, touched := tx.touched[r.FlagKey]; touched {
		return false
	}
	was, touched := tx.touched[key]
	return !touched || was != nil && slices.ContainsFunc(was.requires, func(old guidon.Requirement) bool {
		return old.FlagKey == r.FlagKey && slices.Equal(old.Answers, r.Answers)
	})
}

// checkReference returns an error if the required flag cannot answer as a requirement of the flag
// with the key says.
func (tx *linkTx) checkReference(ctx context.Context, key string, r *guidon.Requirement) error {
	if tx.same(key, r) {
		return nil
	}
	was := tx.touched[r.FlagKey]
	is, err := tx.requiredLinks(ctx, r.FlagKey)
	switch {
	case err != nil:
		return err
	case is == nil && was != nil:
		return guidon.Errorf(guidon.InvalidArgument, "flag %q is required by flag %q", tx.namespace+"/"+r.FlagKey, key)
	case is == nil:
		return guidon.Errorf(guidon.InvalidArgument, "flag %q not found, which flag %q requires", tx.namespace+"/"+r.FlagKey, key)
	}
	for _, answer := range r.Stated() {
		switch {
		case is.can(answer):
		case was != nil && slices.Contains(was.variants, answer):
			return guidon.Errorf(guidon.InvalidArgument, "variant %q is required by flag %q", answer, key)
		default:
			return guidon.Errorf(guidon.InvalidArgument, "flag %q has no variant %q", r.FlagKey, answer)
		}
	}
	return nil
}

// requiredLinks returns what a flag is at the end of the transaction, or nil if it does not exist.
func (tx *linkTx) requiredLinks(ctx context.Context, key string) (*flagLinks, error) {
	if known, ok := tx.required[key]; ok {
		return known, nil
	}
	f, err := tx.Tx.Flag(ctx, key)
	switch {
	case errors.Is(err, guidon.NotFound):
		tx.required[key] = nil
	case err != nil:
		return nil, err
	default:
		tx.required[key] = linksOf(f)
	}
	return tx.required[key], nil
}

// requirements are those of flags by their keys.
type requirements map[string][]guidon.Requirement

// check returns InvalidArgument if the last flag of the path requires one of the path, directly or
// not, or if the first one requires too many. asked counts the evaluations for an answer of that.
func (all requirements) check(path []string, asked *int) error {
	for _, r := range all[path[len(path)-1]] {
		at := slices.Concat(path, []string{r.FlagKey})
		*asked++
		switch {
		case slices.Contains(path, r.FlagKey):
			return guidon.Errorf(guidon.InvalidArgument, "flag %q requires itself: %s", r.FlagKey, strings.Join(at[slices.Index(at, r.FlagKey):], " → "))
		case len(at) > maxRequiredDepth+1 || *asked > maxRequiredEvaluations:
			return guidon.Errorf(guidon.InvalidArgument, "flag %q requires too many flags (depth %d, %d evaluations)",
				path[0], maxRequiredDepth, maxRequiredEvaluations)
		}
		if err := all.check(at, asked); err != nil {
			return err
		}
	}
	return nil
}

// plannedFlags is a [Tx] of the flags that a plan or a document leaves, for [linkTx].
type plannedFlags struct {
	Tx
	base    *guidon.Snapshot        // or nil
	changed map[string]*guidon.Flag // nil for deleted ones
}

// checkPlannedLinks is [linkTx.check] for a patch of a state, which may be nil.
func checkPlannedLinks(ctx context.Context, namespace string, base *guidon.Snapshot, patch change.Patch) error {
	tx := newLinkTx(plannedFlags{base: base, changed: map[string]*guidon.Flag{}}, namespace)
	for _, f := range patch.Put.Flags {
		if err := tx.PutFlag(ctx, f); err != nil {
			return err
		}
	}
	for _, key := range patch.Delete.Flags {
		if err := tx.DeleteFlag(ctx, key); err != nil {
			return err
		}
	}
	return tx.check(ctx)
}

// Flag implements [Tx].
func (p plannedFlags) Flag(_ context.Context, key string) (*guidon.Flag, error) {
	f, changed := p.changed[key]
	if !changed && p.base != nil {
		f = p.base.Flag(key)
	}
	if f == nil {
		return nil, guidon.FlagNotFound("", key)
	}
	return f, change.MustBeReadable(f)
}

// PutFlag implements [Tx].
func (p plannedFlags) PutFlag(_ context.Context, f *guidon.Flag) error {
	p.changed[f.Key] = f
	return nil
}

// DeleteFlag implements [Tx].
func (p plannedFlags) DeleteFlag(_ context.Context, key string) error {
	p.changed[key] = nil
	return nil
}

// LinkedFlags implements [Tx], in the order of the keys.
func (p plannedFlags) LinkedFlags(context.Context) (linked []*guidon.Flag, err error) {
	all := maps.Clone(p.changed)
	if p.base != nil {
		for _, f := range p.base.Requiring() {
			if _, changed := all[f.Key]; !changed {
				all[f.Key] = f
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if f := all[key]; f != nil && f.Linked() {
			linked = append(linked, f)
		}
	}
	return linked, nil
}
