// The part of `@opentelemetry/api` that the client uses. A program that traces passes the module
// in. The client does not import it, so no runtime or bundler needs the package.

/** Opaque here, like the contexts of spans: only the API uses them. */
type Context = object;

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface Span {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  recordException(error: Error | string, at?: number): void;
  end(at?: number): void;
}

export interface SpanOptions {
  readonly kind: number;
  readonly attributes: Record<string, string | number>;
  readonly links: { context: SpanContext }[];
  /** In `performance.now()` time. */
  readonly startTime?: number;
  readonly root?: boolean;
}

export interface Tracer {
  startSpan(name: string, options?: SpanOptions, context?: Context): Span;
}

/** The module `@opentelemetry/api`, 1.x. */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: Context;
  readonly SpanKind: {
    readonly CLIENT: number;
    readonly PRODUCER: number;
    readonly CONSUMER: number;
  };
  readonly SpanStatusCode: { readonly ERROR: number };
  readonly context: {
    active(): Context;
    with<T>(context: Context, call: () => T): T;
  };
  readonly propagation: {
    inject(context: Context, carrier: Record<string, string>): void;
    extract(context: Context, carrier: Readonly<Record<string, string>>): Context;
  };
  readonly trace: {
    getTracer(name: string): Tracer;
    setSpan(context: Context, span: Span): Context;
    getSpanContext(context: Context): SpanContext | undefined;
  };
}
