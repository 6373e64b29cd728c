/**
 * Variables of the environment in tests. An object put in the place of `process.env` would part the two: native code,
 * `os.tmpdir()` among it, goes on reading the old variables, in every test of the process that follows. Here it throws.
 */
Object.defineProperty(process, 'env', { value: process.env, writable: false });

/** Sets a variable, or removes it. */
export function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
