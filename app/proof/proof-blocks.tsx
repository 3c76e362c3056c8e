// The same parts as a page names them, with what the build knows.

import { faults, proof } from "virtual:proof";
import type { ReactNode } from "react";
import { FaultList, MethodFigures, Planted, Summary } from "./proof-views.tsx";

export function ProofSummary(): ReactNode {
  return <Summary proof={proof} />;
}

interface ProofMethodProps {
  /** As in `proof/methods.ts`. */
  readonly name: string;
}

export function ProofMethod({ name }: ProofMethodProps): ReactNode {
  return <MethodFigures name={name} proof={proof} />;
}

export function PlantedBugs(): ReactNode {
  return <Planted proof={proof} />;
}

export function FaultsFound(): ReactNode {
  return <FaultList faults={faults} />;
}
