/** Minimal document in which Preact renders and tests act. It has no layout and no styles. */

type Listener = (this: DomNode, event: DomEvent) => void;

export interface Keys {
  readonly key?: string;
  readonly ctrlKey?: boolean;
}

export class DomEvent {
  readonly type: string;
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey = false;
  readonly shiftKey = false;
  readonly altKey = false;
  readonly button = 0;
  target: DomNode | undefined;
  currentTarget: DomNode | undefined;
  defaultPrevented = false;

  constructor(type: string, { key = '', ctrlKey = false }: Keys = {}) {
    this.type = type;
    this.key = key;
    this.ctrlKey = ctrlKey;
  }

  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

/** Event target that may have children: the window, the document, an element or a text node. */
export class DomNode {
  readonly nodeType: number = 0;
  parentNode: DomNode | null = null;
  readonly childNodes: DomNode[] = [];
  private readonly listeners = new Map<string, Set<Listener>>();

  get firstChild(): DomNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): DomNode | null {
    const { childNodes = [] } = this.parentNode ?? {};
    return childNodes[childNodes.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.childNodes.map((child) => child.textContent).join('');
  }

  insertBefore(child: DomNode, next: DomNode | null): DomNode {
    child.remove();
    this.childNodes.splice(next === null ? this.childNodes.length : this.childNodes.indexOf(next), 0, child);
    child.parentNode = this;
    return child;
  }

  removeChild(child: DomNode): DomNode {
    child.remove();
    return child;
  }

  remove(): void {
    const { childNodes = [] } = this.parentNode ?? {};
    const at = childNodes.indexOf(this);
    if (at >= 0) childNodes.splice(at, 1);
    this.parentNode = null;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }

  /** The event bubbles from this node up to the window. */
  dispatchEvent(event: DomEvent): boolean {
    event.target = this;
    for (let at: DomNode | null = this; at !== null; at = at.parentNode) {
      event.currentTarget = at;
      for (const listener of [...(at.listeners.get(event.type) ?? [])]) listener.call(at, event);
    }
    return !event.defaultPrevented;
  }

  /** All elements below this node, in document order. */
  get elements(): readonly DomElement[] {
    return this.childNodes.flatMap((child) => (child instanceof DomElement ? [child, ...child.elements] : []));
  }
}

export class DomText extends DomNode {
  override readonly nodeType = 3;
  data: string;

  constructor(data: string) {
    super();
    this.data = data;
  }

  override get textContent(): string {
    return this.data;
  }
}

/** Preact converts an event name to lower case if the element has a property with that name. */
const HEARD = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onkeydown', 'onscroll', 'onclose'];

export class DomElement extends DomNode {
  override readonly nodeType = 1;
  readonly localName: string;
  readonly namespaceURI: string;
  readonly style: Record<string, string> = {};
  readonly attributes = new Map<string, string>();
  scrollTop = 0;
  /** Height in pixels at which 60 table rows are visible. */
  clientHeight = 3200;
  scrollHeight = 3200;
  disabled = false;
  isOpen = false;
  private typed: string | undefined;
  private isChecked: boolean | undefined;

  constructor(name: string, namespace: string) {
    super();
    this.localName = name;
    this.namespaceURI = namespace;
    for (const event of HEARD) Object.assign(this, { [event]: null });
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  hasAttribute(name: string): boolean {
    return this.attributes.has(name);
  }

  get value(): string {
    if (this.typed !== undefined) return this.typed;
    const options = this.elements.filter(({ localName }) => localName === 'option');
    const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0];
    if (chosen !== undefined) return chosen.value;
    return this.getAttribute('value') ?? (this.localName === 'option' ? this.textContent : '');
  }

  set value(value: unknown) {
    this.typed = String(value);
  }

  set defaultValue(value: unknown) {
    this.typed ??= String(value);
  }

  get checked(): boolean {
    return this.isChecked ?? false;
  }

  set checked(value: unknown) {
    this.isChecked = value === true;
  }

  closest(selector: string): DomElement | null {
    const names = selector.split(', ');
    if (names.some((name) => this.matches(name))) return this;
    return this.parentNode instanceof DomElement ? this.parentNode.closest(selector) : null;
  }

  /** Supports the selectors that the console uses: an element name with at most one attribute. */
  matches(selector: string): boolean {
    const [, name, attribute] = /^(\w+)(?:\[(\w+)(?:="\w+")?\])?$/.exec(selector) ?? [];
    if (name === undefined) throw new Error(`This document does not look for ${selector}.`);
    if (attribute === 'open') return this.localName === name && this.isOpen;
    return this.localName === name && (attribute === undefined || this.hasAttribute(attribute));
  }

  querySelector(selector: string): DomElement | null {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  querySelectorAll(selector: string): readonly DomElement[] {
    const [name = '', parent] = selector.split(' > ').reverse();
    return this.elements.filter(
      (one) =>
        one.matches(name) &&
        (parent === undefined || (one.parentNode instanceof DomElement && one.parentNode.matches(parent))),
    );
  }

  focus(): void {
    const document = documentOf(this);
    if (document !== undefined) document.activeElement = this;
  }

  /** Performs the browser's default action: toggles a box, submits a form, or closes the form's dialog. */
  click(): void {
    if (this.disabled) return;
    const isSent = this.dispatchEvent(new DomEvent('click'));
    if (this.getAttribute('type') === 'checkbox') {
      this.checked = !this.checked;
      this.dispatchEvent(new DomEvent('change'));
    }
    const form = this.getAttribute('type') === 'submit' ? this.closest('form') : null;
    if (form === null || !isSent) return;
    if (form.getAttribute('method') === 'dialog') form.closest('dialog')?.close();
    else form.dispatchEvent(new DomEvent('submit'));
  }

  showModal(): void {
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
    this.dispatchEvent(new DomEvent('close'));
  }

  scrollIntoView(): void {}

  scrollTo({ top }: { readonly top: number }): void {
    this.scrollTop = top;
    this.dispatchEvent(new DomEvent('scroll'));
  }
}

export class DomDocument extends DomNode {
  override readonly nodeType = 9;
  readonly body = new DomElement('body', '');
  activeElement: DomElement = this.body;
  visibilityState = 'visible';
  title = '';

  constructor(window: DomNode) {
    super();
    this.parentNode = window;
    this.insertBefore(this.body, null);
  }

  createElementNS(namespace: string, name: string): DomElement {
    return new DomElement(name, namespace);
  }

  createTextNode(data: string): DomText {
    return new DomText(data);
  }

  getElementById(id: string): DomElement | null {
    return this.elements.find((one) => one.getAttribute('id') === id) ?? null;
  }
}

function documentOf(node: DomNode | null): DomDocument | undefined {
  if (node instanceof DomDocument) return node;
  return node === null ? undefined : documentOf(node.parentNode);
}
