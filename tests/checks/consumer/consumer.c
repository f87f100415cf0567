/* A program outside the tree: an options struct, an allocation inside the library, and a failure reported. */
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

int main(void)
{
    if (strcmp(tw_version(), TW_VERSION) != 0) return 1;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = 10;
    limits.basis_bytes = 1e6;
    tw_phi_workspace *workspace = NULL;
    tw_error error = {TW_OK, ""};
    if (tw_phi_workspace_create(&limits, &workspace, &error) != TW_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    tw_phi_workspace_free(workspace);
    limits.size = -1;
    if (tw_phi_workspace_create(&limits, &workspace, &error) != TW_INVALID_ARGUMENT) return 1;
    printf("twang %s\n", tw_version());
    return 0;
}
