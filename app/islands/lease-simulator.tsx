import type { ReactNode } from "react";
import { Island } from "./island.tsx";
import "../simulator/simulator.css";

export function LeaseSimulator(): ReactNode {
  return <Island name="simulator" />;
}
