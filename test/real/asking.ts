/** Defines the tests of a real service if the variable `MUSTER_REAL` names that service. */
import { nothingAsked, type RealService, standingOf } from './services.ts';

// Variables that are not set get the default values of a deployment from functions/.env.
process.loadEnvFile(new URL('../../functions/.env', import.meta.url));

const nothing = nothingAsked(process.env);
if (nothing !== undefined) process.stdout.write(`${nothing}\n`);

export function describeReal(service: RealService, tests: () => void): void {
  const { what, why } = standingOf(service, process.env);
  const title = `the real service ${service}`;
  if (what === 'ask') return void describe(title, tests);
  if (what === 'fail')
    return void describe(title, () => {
      it('has all required environment variables', () => {
        throw new Error(why);
      });
    });
  if (why !== undefined) process.stdout.write(`${why}\n`);
}

/** Returns the value of an environment variable, or throws an error if the variable is unset or empty. */
export function variable(name: string): string {
  const value = process.env[name]?.trim();
  if (value === undefined || value === '') throw new Error(`${name} is not set.`);
  return value;
}

/** Returns a name unique to this run. */
export const newName = (): string => `muster-real-${Date.now().toString(36)}`;
