/** The tests of a real service, where it is to be asked. */
import { nothingAsked, type RealService, standingOf } from './services.ts';

// As a deployment has them: what the environment does not say.
process.loadEnvFile(new URL('../../functions/.env', import.meta.url));

const nothing = nothingAsked(process.env);
if (nothing !== undefined) process.stdout.write(`${nothing}\n`);

export function describeReal(service: RealService, tests: () => void): void {
  const { what, why } = standingOf(service, process.env);
  const title = `the real ${service}`;
  if (what === 'ask') return void describe(title, tests);
  if (what === 'fail') {
    return void describe(title, () => {
      it('can be asked', () => {
        throw new Error(why);
      });
    });
  }
  if (why !== undefined) process.stdout.write(`${why}\n`);
}

/** A variable that the service cannot be asked without. */
export function variable(name: string): string {
  const value = process.env[name]?.trim();
  if (value === undefined || value === '') throw new Error(`${name} is not set.`);
  return value;
}

/** A name that no other run has. */
export function newName(): string {
  return `muster-real-${Date.now().toString(36)}`;
}
