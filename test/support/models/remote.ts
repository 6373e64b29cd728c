/** Controls local models in another process, with the methods of `LocalModels`. */
import type { Behavior, Match } from './behavior.ts';
import type { Asked } from './server.ts';

export class RemoteModels {
  private readonly url: string;

  /** @param url base URL of both vendors' APIs */
  constructor(url: string) {
    this.url = url;
  }

  /** Adds a rule. If several rules match a request, the rule that was added last applies. */
  async when(match: Match, behavior: Behavior): Promise<void> {
    await this.control('rules', { method: 'POST', body: JSON.stringify({ match, behavior }) });
  }

  /** Returns the requests whose prompt or system text contains `text`, in order of arrival. */
  async askedAbout(text: string): Promise<readonly Asked[]> {
    return this.control(`asked?text=${encodeURIComponent(text)}`) as Promise<readonly Asked[]>;
  }

  /** Returns the requests that the vendors would reject. */
  async problems(): Promise<readonly string[]> {
    return this.control('problems') as Promise<readonly string[]>;
  }

  private async control(what: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${this.url}/-/${what}`, init);
    if (!response.ok) throw new Error(`The local models returned status ${response.status} for ${what}.`);
    return response.json();
  }
}
