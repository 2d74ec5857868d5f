package oidc

import (
	"context"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/service"
)

// Identify exchanges the code of an authorization response for the identity of the person
// who has signed in. The attempt must be one at this provider, and the response must have its
// state, and an issuer that [Provider.CheckIssuer] accepts. Whether the person is admitted is
// for the caller to decide. The tokens are forgotten.
func (p *Provider) Identify(ctx context.Context, a *loginstate.Attempt, code string) (*service.Identity, error) {
	leave, err := p.client.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	who, err := p.person(ctx, a, code)
	if err != nil {
		return nil, err
	}
	return p.identity(who)
}

// person returns the claims of the provider about the person.
func (p *Provider) person(ctx context.Context, a *loginstate.Attempt, code string) (person, error) {
	d, err := p.keys.Document(ctx)
	if err != nil {
		return person{}, err
	}
	tokens, err := p.exchange(ctx, d, a.Verifier(), code)
	if err != nil {
		return person{}, err
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok || raw == "" {
		return person{}, p.refuse("the token response has no id_token")
	}
	who, err := p.idToken(ctx, raw, a.Nonce())
	needed := d.UserinfoEndpoint != "" && len(p.missing(who)) > 0
	if err != nil || !needed && !p.config.Userinfo {
		return who, err
	}
	who.info, err = p.userinfo(ctx, d, tokens, who.sub)
	if err != nil && !p.config.Userinfo { // the claims of the ID token may suffice
		who.infoErr, err = err, nil
	}
	return who, err
}

// identity returns the identity of the person.
func (p *Provider) identity(who person) (*service.Identity, error) {
	groups := who.groups(p.groups)
	if len(groups) == 0 && p.config.GroupsAdmit && who.hasTooManyGroups(p.groups) {
		return nil, p.withoutGroups()
	}
	email := who.email(p.config.TrustUnverifiedEmail)
	return &service.Identity{
		Method:   service.MethodOIDC,
		Provider: p.config.Name,
		Subject:  p.subject("sub", who.sub),
		Subjects: p.subjects(who, email, groups),
		Roles:    who.roles(p.roles),
		SID:      who.session,
		Metadata: p.metadata(who, email),
		Missing:  p.incomplete(who),
	}, nil
}

// subjects returns the other subjects that bindings and allow lists may name.
func (p *Provider) subjects(who person, e email, groups []string) []string {
	var subjects []string
	if e.verified {
		subjects = append(subjects, p.subject("email", service.FoldCase(e.address)))
	}
	domain := e.domain()
	if p.google { // whose consumer accounts may have the address of a company
		domain = issuer.Domain(who.text("hd"))
	}
	if domain != "" {
		subjects = append(subjects, p.subject("domain", domain))
	}
	for _, group := range groups {
		subjects = append(subjects, p.subject("group", group))
	}
	return subjects
}
