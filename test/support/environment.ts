/**
 * Environment variables in tests. Assigning a new object to `process.env` throws an error: it would not change the
 * variables that native code reads, as in `os.tmpdir()`, and would affect all later tests of the process.
 */
Object.defineProperty(process, 'env', { value: process.env, writable: false });

/** Returns a copy of this process's environment variables, for a child process. */
export function variables(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
}

/** Sets a variable, or deletes it if the value is undefined, which Node would store as the text "undefined". */
export function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
