import { Namespace } from './namespace.ts';
import { Triggers } from './triggers.ts';

/** Contains all databases of a server. Each database is created when it is first used. */
export class Store {
  readonly triggers: Triggers;
  readonly #namespaces = new Map<string, Namespace>();

  constructor(functionsUrl: string | null) {
    this.triggers = new Triggers(functionsUrl);
  }

  namespaces(): Namespace[] {
    return [...this.#namespaces.values()];
  }

  namespace(name: string): Namespace {
    const known = this.#namespaces.get(name);
    if (known) return known;
    const created = new Namespace(name, this.triggers);
    this.#namespaces.set(name, created);
    return created;
  }
}
