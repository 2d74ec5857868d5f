package kubernetes

import "context"

// Check gets the published keys, or sends the API server an invalid token to review. It
// returns the URLs that this service must be able to reach. With an error they are those
// that are known.
func (c *Cluster) Check(ctx context.Context) (urls []string, err error) {
	return c.verifier.probe(ctx)
}

// probe implements verifier.
func (r *reviewer) probe(ctx context.Context) ([]string, error) {
	_, err := r.post(ctx, reviewSpec{Token: "not a token"})
	return []string{r.url}, err
}

// probe implements verifier.
func (s *signatures) probe(ctx context.Context) ([]string, error) {
	d, err := s.document.Document(ctx)
	if err != nil {
		return []string{s.url}, err
	}
	_, err = s.keys.Generation(ctx)
	return []string{s.url, d.JWKSURI}, err
}
