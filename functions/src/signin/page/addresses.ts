/** Where a sign-in link was sent, for the page that it opens. Kept by the browser for a day; else the page asks. */
const PREFIX = 'muster.signin.';

const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

export function rememberAddress(authorization: string, email: string): void {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) read(key);
    localStorage.setItem(PREFIX + authorization, `${Date.now()} ${email}`);
  });
}

export function recallAddress(authorization: string): string | undefined {
  return attempt(() => read(PREFIX + authorization));
}

export function forgetAddress(authorization: string): void {
  attempt(() => localStorage.removeItem(PREFIX + authorization));
}

/** What is too old is removed. */
function read(key: string): string | undefined {
  const [time, email] = localStorage.getItem(key)?.split(' ') ?? [];
  if (Math.abs(Date.now() - Number(time)) < KEPT_MILLISECONDS) return email;
  localStorage.removeItem(key);
  return undefined;
}

/** A browser may keep nothing at all, and says so by an error. */
function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
