// Mistakes with which the program does the same, each with the line as the mistake leaves it.

export const EQUIVALENT = [
];
