/** The ids that onboarding.registerAgent makes: of an owner and a name, so that registering again finds the agent. */
import type { Hashing } from '../ports.ts';

const USUAL_DIGITS = 8;

/** So many that nobody finds another name with the same digest. Nobody may choose an id that ends so. */
const SAFE_DIGITS = 16;

const ENDS_SAFELY = new RegExp(`-[0-9a-f]{${SAFE_DIGITS}}$`);

export function usualId(ownerUid: string, name: string, hashing: Hashing): string {
  return idOf(ownerUid, name, hashing, USUAL_DIGITS);
}

/** The id where another owner has the usual one. */
export function safeId(ownerUid: string, name: string, hashing: Hashing): string {
  return idOf(ownerUid, name, hashing, SAFE_DIGITS);
}

/** Whether only registerAgent makes agents of such an id. */
export function isReserved(agentId: string): boolean {
  return ENDS_SAFELY.test(agentId);
}

function idOf(ownerUid: string, name: string, hashing: Hashing, digits: number): string {
  const start = name.replace(/^[^A-Za-z0-9]+/, '') || 'agent';
  return `${start}-${hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
}
