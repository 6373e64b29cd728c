/** Email addresses to which sign-in links were sent. The browser stores each address for a day. */
const PREFIX = 'muster.signin.';
const ADDRESS_TTL_MS = 24 * 60 * 60 * 1000;

export function storeAddress(authorization: string, email: string): void {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) read(key);
    localStorage.setItem(PREFIX + authorization, `${Date.now()} ${email}`);
  });
}

export function loadAddress(authorization: string): string | undefined {
  return attempt(() => read(PREFIX + authorization));
}

export function clearAddress(authorization: string): void {
  attempt(() => localStorage.removeItem(PREFIX + authorization));
}

/** Returns the stored address; if the address has expired, removes it and returns undefined. */
function read(key: string): string | undefined {
  const [time, email] = localStorage.getItem(key)?.split(' ') ?? [];
  if (Math.abs(Date.now() - Number(time)) < ADDRESS_TTL_MS) return email;
  localStorage.removeItem(key);
  return undefined;
}

/** If a browser allows no storage, each access throws an error. */
function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
