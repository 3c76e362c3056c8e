// The fallback shown when an island fails. The page around it is unaffected.

import { Component, type ReactNode } from "react";

interface IslandFrameProps {
  readonly onAlive: () => void;
  readonly children: ReactNode;
}

export class IslandFrame extends Component<IslandFrameProps> {
  override state = { error: null as unknown, isBroken: false };

  static getDerivedStateFromError(error: unknown): IslandFrame["state"] {
    return { error, isBroken: true };
  }

  override componentDidMount(): void {
    this.props.onAlive();
  }

  override render(): ReactNode {
    const { error, isBroken } = this.state;
    if (!isBroken) return this.props.children;
    return (
      <div className="error-screen" role="alert">
        <h2>This page crashed.</h2>
        <pre>{error instanceof Error ? error.message : String(error)}</pre>
        <button
          type="button"
          className="button"
          onClick={() => this.setState({ error: null, isBroken: false })}
        >
          Try again
        </button>
      </div>
    );
  }
}
