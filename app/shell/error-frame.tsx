// Catches what a part of the page throws while it renders.

import { Component, type ReactNode } from "react";

interface ErrorFrameProps {
  /** May throw again, to be caught further out. */
  readonly fallback: (error: Error, retry: () => void) => ReactNode;
  /** Another value, another try: what broke on one page says nothing about the next. */
  readonly place?: string;
  readonly children: ReactNode;
}

export class ErrorFrame extends Component<ErrorFrameProps, { readonly error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate({ place }: ErrorFrameProps): void {
    if (place !== this.props.place && this.state.error !== null) this.#retry();
  }

  readonly #retry = () => this.setState({ error: null });

  override render(): ReactNode {
    const { error } = this.state;
    return error === null ? this.props.children : this.props.fallback(error, this.#retry);
  }
}
