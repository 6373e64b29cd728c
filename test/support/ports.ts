/**
 * Ports of which a test gives only those that it expects to be used. Whoever reaches for another fails.
 * @param given of each port as much as is called
 */
export function portsOf<Ports extends object>(
  given: {
    readonly [Name in keyof Ports]?: Partial<Ports[Name]>;
  },
): Ports {
  return new Proxy(given, {
    get: (ports, name) => {
      if (name === 'then') return undefined; // it is awaited, and no promise
      if (!(name in ports)) throw new Error(`The test gives no port "${String(name)}".`);
      return Reflect.get(ports, name);
    },
  }) as Ports;
}
