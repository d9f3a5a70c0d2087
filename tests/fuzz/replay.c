/* SPDX-License-Identifier: MIT */
/*
 * Runs a target's corpus without libFuzzer: each file, and each beginning of
 * it. The program's own name, test_fuzz_NAME, says which corpus.
 */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

#define FILE_MAX 65536
#define BEGINNINGS_MAX 256

static bool
replay(const char *path)
{
	static uint8_t whole[FILE_MAX];
	FILE *f = fopen(path, "re");
	size_t len, step;

	if (f == NULL)
		return false;
	len = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	step = len / BEGINNINGS_MAX + 1;
	for (size_t cut = 0; cut <= len; cut += step) {
		size_t size = len - cut;
		uint8_t *bytes = malloc(size != 0 ? size : 1);

		if (bytes == NULL)
			return false;
		memcpy(bytes, whole, size);
		LLVMFuzzerTestOneInput(bytes, size);
		free(bytes);
	}
	return true;
}

int
main(int argc, char **argv)
{
	const char *mark = argc > 0 ? strstr(argv[0], "test_fuzz_") : NULL;
	const struct dirent *entry;
	char folder[256], path[600];
	int number = 0, failed = 0;
	DIR *dir;

	if (mark == NULL)
		return 2;
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s",
		mark + strlen("test_fuzz_"));
	dir = opendir(folder);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		bool ok;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		ok = replay(path);
		failed += !ok;
		printf("%sok %d - %s\n", ok ? "" : "not ", ++number, path);
	}
	if (dir != NULL)
		closedir(dir);
	printf("1..%d\n", number);
	return failed != 0 || number == 0;
}
