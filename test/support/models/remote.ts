/** Local models in another process: what `LocalModels` is for those in this one. */
import type { Behaviour, Match } from './behaviour.ts';
import type { Asked } from './server.ts';

export class RemoteModels {
  private readonly url: string;

  /** @param url where they are; both vendors are there */
  constructor(url: string) {
    this.url = url;
  }

  /** From now on. Where several rules fit a request, the one that came last holds. */
  async when(match: Match, behaviour: Behaviour): Promise<void> {
    await this.control('rules', { method: 'POST', body: JSON.stringify({ match, behaviour }) });
  }

  /** The requests whose prompt or system text holds this, in the order in which they came. */
  async askedAbout(text: string): Promise<readonly Asked[]> {
    return this.control(`asked?text=${encodeURIComponent(text)}`) as Promise<readonly Asked[]>;
  }

  /** What was asked in a way that the vendors would not understand. */
  async problems(): Promise<readonly string[]> {
    return this.control('problems') as Promise<readonly string[]>;
  }

  private async control(what: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${this.url}/-/${what}`, init);
    if (!response.ok) throw new Error(`The local models answered ${response.status} to ${what}.`);
    return response.json();
  }
}
