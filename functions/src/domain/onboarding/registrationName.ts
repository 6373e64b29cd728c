import type { Hashing } from '../ports.ts';

const MIN_LENGTH = 3;
const MAX_LENGTH = 50;

/**
 * The name under which onboarding.registerAgent takes an agent: letters, digits, "-" and "_". What had to be
 * left out of it is told apart by a digest, so that two names never become one agent.
 */
export function registrationName(name: string, hashing: Hashing): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (plain === name && plain.length >= MIN_LENGTH && plain.length <= MAX_LENGTH) return plain;
  const digest = hashing.sha256(name).slice(0, 8);
  const start = plain.slice(0, MAX_LENGTH - digest.length - 1) || 'agent';
  return `${start}-${digest}`;
}
