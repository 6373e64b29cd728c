/** Changes the security rules of the running emulator, and restores the committed rules. */
import { readFileSync } from 'node:fs';

const committed = readFileSync(new URL('../../../../firestore.rules', import.meta.url), 'utf8');

/** Loads the committed rules into the emulator, with one text in them replaced. */
export async function changeRules(text: string, replacement: string): Promise<void> {
  const changed = committed.replace(text, replacement);
  if (changed === committed) throw new Error(`firestore.rules does not contain: ${text}`);
  await load(changed);
}

export const restoreRules = (): Promise<void> => load(committed);

async function load(content: string): Promise<void> {
  const { FIRESTORE_EMULATOR_HOST: host, GCLOUD_PROJECT: project } = process.env;
  const response = await fetch(`http://${host}/emulator/v1/projects/${project}:securityRules`, {
    method: 'PUT',
    body: JSON.stringify({ rules: { files: [{ content }] } }),
  });
  if (!response.ok) throw new Error(`cannot replace the rules: ${await response.text()}`);
}
