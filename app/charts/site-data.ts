// The figures of the site's own results files, put in order once for all that shows them.

import { benchData } from "./bench-data.ts";
import { resultsFiles } from "./results-files.ts";

export const siteData = benchData(resultsFiles);
