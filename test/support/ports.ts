/**
 * Ports of which a test provides only those that it expects to be used. Any other access fails.
 * @param given the methods that the test expects to be called
 */
export function portsOf<Ports extends object>(
  given: {
    readonly [Name in keyof Ports]?: Partial<Ports[Name]>;
  },
): Ports {
  return new Proxy(given, {
    get: (ports, name) => {
      if (name === 'then') return undefined; // it is awaited, and is not a promise
      if (!(name in ports)) throw new Error(`The test gives no port "${String(name)}".`);
      return Reflect.get(ports, name);
    },
  }) as Ports;
}
