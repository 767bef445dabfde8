#!/usr/bin/env node
import { run } from './program.ts';

process.exitCode = await run(process.argv.slice(2), {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  columns: process.stdout.columns ?? 80,
});
