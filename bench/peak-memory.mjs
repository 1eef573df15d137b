// Loaded into ralph by the benchmark: tells its peak memory when it ends.
process.on("exit", () => process.stderr.write(`peak memory ${process.resourceUsage().maxRSS}\n`));
