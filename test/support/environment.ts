/**
 * Environment variables in tests. A test that assigns an object to `process.env` does not change the variables that
 * native code reads, for example in `os.tmpdir()`, and all later tests of its process are affected. So this throws.
 */
Object.defineProperty(process, 'env', { value: process.env, writable: false });

/** Environment variables of this process, for a child process. */
export function variables(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
}

/** Sets a variable, or deletes it if the value is undefined: `process.env` itself would store the text "undefined". */
export function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
