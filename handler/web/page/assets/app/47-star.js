// Stars change where they are. One waits for the one before: all favorites may be in one cookie.
let starred = Promise.resolve();
onSubmit("#stars", (form, button) => {
  const fields = fieldsOf(form, button);
  starred = starred.then(async () => {
    const page = await load(button.formAction, { region: "star", form: fields });
    const fresh = page && regionOf("star", page);
    if (fresh) swap(button.parentElement, fresh);
    return Boolean(fresh);
  });
  return starred;
});
