// The header in C++: it links, and its structs can be created.
#include <cstdio>
#include <optireduce.h>
#include <optireduce.h> // twice

int main() {
    optr_config_t config = optr_config_init();
    optr_report_t report = optr_report_init();
    optr_bucket_options_t options = optr_bucket_options_init();
    const bool sizes = config.size == sizeof config && report.size == sizeof report && options.size == sizeof options;
    const optr_status_t status = optr_barrier(nullptr, NULL);
    std::puts(sizes && status == OPTR_INVALID_HANDLE && optr_version() == OPTR_VERSION ? "done" : "wrong");
}
