/** A browser and Firebase Cloud Messaging in memory, as far as notifications need them. */
import assert from 'node:assert/strict';

interface Shown {
  readonly title: string;
  readonly tag: string;
}

interface Options {
  readonly tag: string;
  readonly data?: { readonly link: string };
}

interface TokenOptions {
  readonly vapidKey: string;
  readonly serviceWorkerRegistration: object;
}

interface Message {
  readonly data: unknown;
}

export class PushBrowser {
  /** Notifications that the page has shown, and those that it has shown through the service worker. */
  readonly shown: Shown[] = [];
  readonly shownByWorker: (Shown & { readonly link: string | undefined })[] = [];
  /** Keys for which the page has requested a token. */
  readonly keys: string[] = [];
  /** Response to a request for a token. */
  token: string | Error = 'token-1';
  isSubscribed: boolean;
  private isRegistered: boolean;
  private hear: (message: Message) => void = () => undefined;

  /** @param hasPush whether the browser has been registered before */
  constructor({ hasPush = false }: { readonly hasPush?: boolean } = {}) {
    this.isSubscribed = hasPush;
    this.isRegistered = hasPush;
  }

  /** Sends a message of the service worker to the page. */
  tell(data: unknown): void {
    this.hear({ data });
  }

  /** Globals of the page. */
  get globals() {
    return {
      Notification: this.notifications(),
      PushManager: Object,
      messaging: this.messaging,
      navigator: { serviceWorker: this.workers },
      trustedTypes: { createPolicy: trustedTypesPolicy },
    };
  }

  private readonly registration = {
    pushManager: { getSubscription: async () => (this.isSubscribed ? { unsubscribe: this.unsubscribe } : null) },
    showNotification: async (title: string, { tag, data }: Options) => {
      this.shownByWorker.push({ title, tag, link: data?.link });
    },
    unregister: async () => {
      this.isRegistered = false;
    },
  };

  private readonly workers = {
    ready: Promise.resolve(this.registration),
    register: async (address: unknown) => {
      assert.ok(address instanceof TrustedAddress, 'the content security policy requires a trusted address');
      assert.equal(address.text, '/push.js');
      this.isRegistered = true;
      return this.registration;
    },
    getRegistration: async () => (this.isRegistered ? this.registration : undefined),
    addEventListener: (_type: 'message', hear: (message: Message) => void) => {
      this.hear = hear;
    },
  };

  private readonly messaging = {
    getMessaging: () => undefined,
    getToken: async (_messaging: undefined, { vapidKey, serviceWorkerRegistration }: TokenOptions) => {
      assert.equal(serviceWorkerRegistration, this.registration);
      this.keys.push(vapidKey);
      if (this.token instanceof Error) throw this.token;
      this.isSubscribed = true;
      return this.token;
    },
    deleteToken: () => this.unsubscribe(),
  };

  private readonly unsubscribe = async () => {
    this.isSubscribed = false;
  };

  private notifications() {
    const { shown } = this;
    return class {
      static readonly permission = 'granted';
      static readonly requestPermission = async () => 'granted';

      constructor(title: string, { tag }: Options) {
        shown.push({ title, tag });
      }
    };
  }
}

class TrustedAddress {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function trustedTypesPolicy(name: string, rules: { createScriptURL(address: string): string }) {
  assert.equal(name, 'muster');
  return { createScriptURL: (address: string) => new TrustedAddress(rules.createScriptURL(address)) };
}
