// Package codehost signs people in with the host of their code: GitHub, GitHub Enterprise
// Server, GitLab, Gitea or Forgejo. It uses OAuth 2.0 with PKCE, and reads from the API of
// the host who they are, and which e-mail address, organizations and teams they have. The
// access token is not kept.
//
// Which of these are read depends on the scopes alone, not on allow lists and bindings: a
// later binding then applies to sessions that exist already. If a list cannot be read,
// or is too long, signing in fails. With an incomplete one, people could get more than
// bindings give them, since bindings may give less than the default role.
package codehost
