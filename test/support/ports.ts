/**
 * Returns ports of which a test implements only some methods. Access to any other port throws an error.
 * @param given the methods that the test implements
 */
export function portsOf<Ports extends object>(
  given: {
    readonly [Name in keyof Ports]?: Partial<Ports[Name]>;
  },
): Ports {
  return new Proxy(given, {
    get: (ports, name) => {
      if (name === 'then') return undefined; // `await` checks for `then`; this object is not a promise.
      if (!(name in ports)) throw new Error(`The test does not implement the port "${String(name)}".`);
      return Reflect.get(ports, name);
    },
  }) as Ports;
}
