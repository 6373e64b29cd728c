/** Changes the security rules of the Realtime Database during a test. */

type Rules = Record<string, unknown>;

function url(): string {
  const { FIREBASE_DATABASE_EMULATOR_HOST: host, DATABASE_URL: database } = process.env;
  const namespace = new URL(database ?? '').searchParams.get('ns');
  return `http://${host}/.settings/rules.json?ns=${namespace}`;
}

const headers = { authorization: 'Bearer owner' };

async function replace(rules: string): Promise<void> {
  const response = await fetch(url(), { method: 'PUT', headers, body: rules });
  if (!response.ok) throw new Error(`Cannot replace the rules: ${await response.text()}`);
}

/** Runs the function with changed rules. `change` gets the object below "rules", and returns its replacement. */
export async function withRules<T>(change: (rules: Rules) => Rules, run: () => Promise<T>): Promise<T> {
  const restore = await changeRules(change);
  try {
    return await run();
  } finally {
    await restore();
  }
}

/** Changes the rules and returns a function that restores them. */
export async function changeRules(change: (rules: Rules) => Rules): Promise<() => Promise<void>> {
  const original = await (await fetch(url(), { headers })).text();
  const { rules } = JSON.parse(original) as { rules: Rules };
  await replace(JSON.stringify({ rules: change(rules) }));
  return () => replace(original);
}
